import torch
from torch import nn

members = [nn.Linear(3, 2).to("cuda:0"), nn.Linear(3, 2).to("cuda:1")]
x = torch.rand(5, 3)
first = members[0](x.to("cuda:0"))
second = members[1](x.to("cuda:1"))
mean = torch.stack([first, second.to(first.device)]).mean(0)  # finds: cross-shard-op
