import torch
from torch import nn


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(8, 8)

    def forward(self, x):
        table = torch.linspace(0, 1, 8)  # finds: created-without-device
        if self.mix.weight.device != x.device:
            return self.mix(x.to(self.mix.weight.device)) * 2
        return self.mix(x) * table


net = Waves().cuda()
print(net(torch.rand(2, 8).cuda()).shape)
