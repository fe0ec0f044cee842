import torch
from split_unet import SplitUNet

net = SplitUNet()
with torch.no_grad():
    print(net(torch.rand(1, 1, 16, 16, 16)).shape)
