# devices: cuda:0,cpu
# causes: created-without-device
import torch

ANCHORS = torch.tensor([[10., 13.], [16., 30.], [33., 23.]])  # here

class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(8, 6, 1)
    def forward(self, f):
        p = self.conv(f).view(f.size(0), 3, 2, -1)
        wh = p.exp() * ANCHORS.view(1, 3, 2, 1)  # fails
        return wh

h = Head().cuda()
h(torch.rand(1, 8, 4, 4).cuda())
