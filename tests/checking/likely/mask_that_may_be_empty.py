import torch
from torch import nn

NO_PAD = torch.ones((0, 0, 0), dtype=torch.bool)  # finds: input-not-moved


class Conv(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.point = nn.Conv1d(n, n, 1)

    def forward(self, x, pad=NO_PAD):
        x = self.point(x)
        if pad.size(2) > 0:
            x = x.masked_fill(~pad, 0.0)
        return x


net = Conv(4).cuda()
print(net(torch.randn(2, 4, 6, device="cuda")).shape)
