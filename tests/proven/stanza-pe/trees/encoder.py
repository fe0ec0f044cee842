import torch
from torch import nn
from trees.positions import Waves


class Encoder(nn.Module):
    def __init__(self, size, max_len):
        super().__init__()
        self.encoding = Waves(size // 2, max_len)
        self.norm = nn.LayerNorm(size)

    def forward(self, x):
        timing = self.encoding(torch.arange(x.shape[1], device=x.device))
        x, timing = torch.broadcast_tensors(x, timing)
        out = torch.cat([x, timing], dim=-1)
        return self.norm(out)
