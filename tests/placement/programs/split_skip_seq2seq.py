# devices: cuda:1,cuda:0
# causes: cross-shard-op
import torch
from torch import nn

class Seq2Seq(nn.Module):
    def __init__(self, v, d, dev0, dev1):
        super().__init__()
        self.dev0, self.dev1 = dev0, dev1
        self.emb = nn.Embedding(v, d).to(dev0)
        self.encoder = nn.GRU(d, d, batch_first=True).to(dev0)
        self.decoder = nn.GRU(d, d, batch_first=True).to(dev1)
        self.attn = nn.Linear(d, d).to(dev1)
        self.out = nn.Linear(d, v).to(dev1)

    def forward(self, src, tgt):
        enc, h = self.encoder(self.emb(src.to(self.dev0)))
        dec_in = self.emb(tgt.to(self.dev0)).to(self.dev1)
        dec, _ = self.decoder(dec_in, h.to(self.dev1))
        scores = torch.bmm(self.attn(dec), enc.transpose(1, 2))  # fails # here
        ctx = scores.softmax(-1) @ enc
        return self.out(ctx + dec)

net = Seq2Seq(100, 16, torch.device("cuda", 0), torch.device("cuda", 1))
y = net(torch.randint(0, 100, (2, 7)), torch.randint(0, 100, (2, 5)))
