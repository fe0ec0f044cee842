import io
import torch
from torch import nn

class Momentum:
    def __init__(self, params, lr=0.1, beta=0.9):
        self.params, self.lr, self.beta, self.t = list(params), lr, beta, 0
        self.m = [torch.zeros_like(p) for p in self.params]
    @torch.no_grad()
    def step(self):
        self.t += 1
        for p, m in zip(self.params, self.m):
            m.mul_(self.beta).add_(p.grad)
            p.sub_(self.lr * m / (1 - self.beta ** self.t))
    def state(self):
        return {"t": self.t, "m": self.m}
    def load(self, state):
        self.t = state["t"]
        self.m = [m.to(p.device) for m, p in zip(state["m"], self.params)]

net = nn.Linear(3, 1).to("cuda")
opt = Momentum(net.parameters())
disk = io.BytesIO()
torch.save(opt.state(), disk)
disk.seek(0)
opt.load(torch.load(disk, map_location="cpu"))
net(torch.rand(2, 3, device="cuda")).sum().backward()
opt.step()
