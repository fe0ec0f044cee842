# devices: cuda:0,cpu
# causes: optimizer-state
import torch
from torch.optim import Optimizer

class MySGD(Optimizer):
    def __init__(self, params, lr=0.1, momentum=0.9):
        super().__init__(params, dict(lr=lr, momentum=momentum))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["buf"] = torch.zeros_like(p)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                buf = self.state[p]["buf"]
                buf.mul_(group["momentum"]).add_(p.grad)  # fails
                p.add_(buf, alpha=-group["lr"])

net = torch.nn.Linear(2, 2)  # here
opt = MySGD(net.parameters())
net.to("cuda")
net(torch.rand(1, 2, device="cuda")).sum().backward()
opt.step()
