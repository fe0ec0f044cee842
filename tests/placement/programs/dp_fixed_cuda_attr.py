# devices: cuda:1,cuda:0
# causes: dataparallel-replica-state,unregistered-tensor,hardcoded-device
import torch
from torch import nn

class Clf(nn.Module):
    def __init__(self, n, d, device):
        super().__init__()
        self.fc = nn.Linear(d, n)
        self.register_buffer("scale", torch.ones(1))
        self.proto = torch.randn(n, d).to(device)  # here
    def forward(self, x):
        return (self.fc(x) * self.scale) + x @ self.proto.t()  # fails

device = "cuda"
model = Clf(3, 5, device)
model = nn.DataParallel(model).to(device)
model(torch.randn(8, 5).to(device))
