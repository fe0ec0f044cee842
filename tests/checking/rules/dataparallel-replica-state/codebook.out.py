import torch
import torch.nn as nn
import torch.nn.functional as F

class Quantiser(nn.Module):
    def __init__(self, k, d, device="cuda:0"):
        super().__init__()
        self.register_buffer("codes", torch.randn(k, d).to(device), persistent=False)  # finds: dataparallel-replica-state
        self.proj = nn.Linear(d, d)

    def forward(self, z):
        z = self.proj(z)
        return F.linear(z, self.codes).argmax(-1)

model = Quantiser(7, 4).to("cuda:0")
model = nn.DataParallel(model)
print(model(torch.randn(6, 4, device="cuda:0")))
