import torch
from torch import nn

device = torch.device("cuda")
probe = torch.empty(1, 3, 8, 8, device="meta")
shape = nn.Conv2d(3, 4, 3, device="meta")(probe).shape
head = nn.Linear(shape.numel(), 2).to(device)
print(head(torch.rand(1, shape.numel(), device=device)))
