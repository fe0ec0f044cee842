import torch
from torch import nn


def build(device):
    net = nn.Conv2d(3, 4, 3).to(device)
    if torch.cuda.device_count() > 1:
        net = nn.DataParallel(net.to("cuda:2"), device_ids=[2, 3])  # finds: dataparallel-home-device
    return net


device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
net = build(device)
print(net(torch.rand(4, 3, 8, 8, device=device)).shape)
