import torch
from torch import nn

device = torch.device("cuda")
big = nn.Linear(4, 4).to(device)
small = nn.Linear(4, 2)
hidden = big(torch.rand(1, 4, device=device))
print(small(hidden.cpu()))
print(small(hidden.detach().to("cpu")))
