import torch
from torch import nn

import mydata

device = torch.device("cuda")
model = nn.Linear(3, 1).to(device)
for x, y in mydata.batches(device):
    print(model(x) - y)
sample = mydata.sample()
print(model(sample))
