import copy

import torch
from torch import nn

net = nn.Linear(4, 4).to("cuda")  # finds: module-not-moved
on_gpu = copy.deepcopy(net).cuda()
x = torch.rand(1, 4).cuda()
print(on_gpu(x) - net(x))
