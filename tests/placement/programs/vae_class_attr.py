# devices: cuda:0,cpu
# causes: module-not-moved
import torch
import torch.nn as nn

class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.l = nn.Linear(d, 2 * d)
    def forward(self, x):
        return self.l(x)

class Experiment(object):
    def __init__(self, cfg):
        self.cfg = cfg
        self.device = torch.device("cuda:0")
        self.build()

    def build(self):
        self.enc = Encoder(4).to(self.device)
        self.dec = nn.Linear(8, 4)  # here
        params = list(self.enc.parameters()) + list(self.dec.parameters())
        self.opt = torch.optim.Adam(params)

    def run_epoch(self, data):
        for x in data:
            x = x.to(self.device)
            rec = self.dec(self.enc(x))  # fails
            loss = ((rec - x) ** 2).mean()
            loss.backward()
            self.opt.step()

exp = Experiment({})
exp.run_epoch([torch.randn(2, 4) for _ in range(4)])
