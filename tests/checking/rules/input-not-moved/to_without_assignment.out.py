import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
x = torch.rand(2, 4)
x = x.to(device)  # finds: input-not-moved|created-without-device
print(model(x))
