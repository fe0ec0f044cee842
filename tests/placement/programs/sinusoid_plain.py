# devices: cuda:0,cpu
# causes: unregistered-tensor
import math
import torch
from torch import nn

def sinusoid(n, d):
    pos = torch.arange(n).unsqueeze(1)
    div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    pe = torch.zeros(n, d)
    pe[:, 0::2] = torch.sin(pos * div)
    pe[:, 1::2] = torch.cos(pos * div)
    return pe

class Enc(nn.Module):
    def __init__(self, vocab, d=16, n=50):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.pos = sinusoid(n, d)  # here
        self.l = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 2), 1)
    def forward(self, x):
        h = self.emb(x)
        h = h + self.pos[: x.size(1)]  # fails
        return self.l(h)

device = torch.device("cuda")
net = Enc(20).to(device)
net(torch.randint(0, 20, (2, 7), device=device))
