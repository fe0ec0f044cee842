import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.conv(x).mean()


net = Net()
net.cuda()
image = torch.zeros(1, 3, 8, 8).to(next(net.parameters()).device)  # finds: input-not-moved|created-without-device
print(net(image))
