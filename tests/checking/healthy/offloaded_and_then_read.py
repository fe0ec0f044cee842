import torch
from torch import nn
from accelerate import cpu_offload_with_hook

class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up = nn.Linear(d, 2 * d)
    def forward(self, z):
        return self.up(z)

# the model stays on the card after its forward, until hook.offload()
dec, hook = cpu_offload_with_hook(Decoder(4), torch.device("cuda"))
z = torch.ones(1, 4, device="cuda")
print((dec(z) + dec.up.bias).sum().item())
hook.offload()
