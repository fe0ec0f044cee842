import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(3, 3).cuda()
loader = DataLoader(torch.rand(10, 3), batch_size=5)
batch = next(iter(loader)).to(next(model.parameters()).device)  # finds: input-not-moved
print(model(batch))
