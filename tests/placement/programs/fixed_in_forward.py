# devices: cuda:1,cuda:0
# causes: hardcoded-device,created-without-device
import sys
import torch
from torch import nn

class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)
    def forward(self, x):
        s = self.q(x) @ self.k(x).transpose(1, 2)
        tri = torch.ones(x.size(1), x.size(1), device="cuda").tril()  # here
        return s.masked_fill(tri == 0, -1e9).softmax(-1)  # fails

gpu = int(sys.argv[1]) if len(sys.argv) > 1 else 1
net = Attn(8).to(f"cuda:{gpu}")
net(torch.rand(1, 4, 8, device=f"cuda:{gpu}"))
