import torch
from torch import nn
from torch.nn import functional as F


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernels = [torch.ones(1, 1, k, k) / k ** 2 for k in (1, 3)]  # finds: unregistered-tensor
        self.mix = nn.Conv2d(1, 1, 1)

    def forward(self, x):
        y = self.mix(x)
        for kernel in self.kernels:
            y = y + F.conv2d(x, kernel, padding=kernel.shape[-1] // 2)
        return y


if __name__ == "__main__":
    net = Pyramid().cuda()
    print(net(torch.rand(1, 1, 6, 6).cuda()).shape)
