# devices: cuda:1,cuda:0
# causes: cross-shard-op
import torch
import torch.nn as nn
import torch.nn.functional as F

class TiedLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim).to("cuda:0")
        self.h0 = nn.TransformerEncoderLayer(dim, 2).to("cuda:0")
        self.h1 = nn.TransformerEncoderLayer(dim, 2).to("cuda:1")
        self.ln = nn.LayerNorm(dim).to("cuda:1")

    def forward(self, ids):
        x = self.h0(self.wte(ids))
        x = self.ln(self.h1(x.to("cuda:1")))
        return F.linear(x, self.wte.weight)  # fails # here

lm = TiedLM(50, 16)
logits = lm(torch.randint(0, 50, (2, 8)).to("cuda:0"))
