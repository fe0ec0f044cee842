import torch
from torch import nn
from torch.func import functional_call

net = nn.Linear(4, 2).cuda()
with torch.device("meta"):
    shape = nn.Linear(4, 2)
rows = torch.ones(5, 4, device="cuda")
print(functional_call(shape, dict(net.named_parameters()), (rows,)).shape)
