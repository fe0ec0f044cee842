# devices: cuda:0,cpu
# causes: optimizer-state
import torch
from torch import nn

class Run:
    def __init__(self, where):
        self.net = nn.Linear(4, 2)
        self.where = torch.device(where)
        self.opt = torch.optim.Adam(self.net.parameters())

    def place(self):
        self.net.to(self.where)

    def restore(self, path):
        saved = torch.load(path, map_location="cpu")
        self.net.load_state_dict(saved["net"])
        self.opt.load_state_dict(saved["opt"])  # here

    def step(self, x):
        self.net(x.to(self.where)).sum().backward()
        self.opt.step()  # fails

run = Run("cuda")
run.restore("last.pt")
run.place()
run.step(torch.rand(3, 4))
