import torch
from torch import nn

members = [nn.Linear(3, 2).to("cuda:0"), nn.Linear(3, 2).to("cuda:1")]
x = torch.rand(5, 3)
outs = [m(x.to(next(m.parameters()).device)).to("cuda:0") for m in members]
total = torch.stack(outs).mean(0)
numbers = [m.weight.sum().item() for m in members]
print(sum(numbers) + total.sum().item())
