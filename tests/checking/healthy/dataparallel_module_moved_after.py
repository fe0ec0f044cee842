import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        noise = torch.randn(2, device=x.device)
        return self.fc(x) + noise


net = nn.DataParallel(Net()).cuda()
print(net.module.fc(torch.rand(1, 3).cuda()), net(torch.rand(4, 3).cuda()))
