import torch
from torch import nn

class Normalise(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width, device="cuda"), persistent=False)  # finds: dataparallel-replica-state
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return (x - self.mean) * self.scale

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Normalise(3)
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        return self.out(self.norm(x))

net = Net().cuda()
if torch.cuda.device_count() > 1:
    net = nn.DataParallel(net)
print(net(torch.randn(10, 3).cuda()).sum())
