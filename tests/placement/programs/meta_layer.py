# devices: meta,cuda:0
# causes: meta-tensor
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a = nn.Linear(d, d)
        self.b = nn.Linear(d, d, device="meta")  # here
    def forward(self, x):
        return self.b(self.a(x))  # fails

blk = Block(4)
blk.a.to("cuda")
blk(torch.rand(1, 4, device="cuda"))
