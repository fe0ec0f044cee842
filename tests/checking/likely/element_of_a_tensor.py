import torch
from torch import nn

net = nn.Linear(4, 3).cuda()
rates = torch.softmax(torch.rand(3, 3), 1)  # finds: created-without-device
out = net(torch.rand(2, 4, device="cuda"))
for number in range(3):
    print(out * rates[number])
