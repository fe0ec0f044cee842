# devices: cuda:0,cpu
# causes: created-without-device
import torch
from torch import nn

class Decoder(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)

    @staticmethod
    def causal(n):
        return torch.full((n, n), float("-inf")).triu(1)

    def forward(self, x):
        mask = self.causal(x.size(1))  # here
        return self.attn(x, x, x, attn_mask=mask)[0]  # fails

Decoder().to("cuda")(torch.rand(2, 5, 16, device="cuda"))
