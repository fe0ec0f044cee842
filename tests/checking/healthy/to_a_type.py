import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.register_buffer("q", torch.ones(d, d, dtype=torch.int8))
        self.register_buffer("scale", torch.full((d, 1), 0.5))

    def forward(self, h, out_dtype=torch.float32):
        w = self.q.to(h.dtype) * self.scale.to(h.dtype)
        return (h @ w).to(out_dtype)

print(Scaled(4).cuda()(torch.rand(2, 4, device="cuda")))
