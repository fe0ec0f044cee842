import torch
from torch import nn
from accelerate import cpu_offload_with_hook

class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up = nn.Linear(d, 2 * d)
    def forward(self, z):
        return self.up(z)

class Pipe:
    """models wait on the host (offload)"""
    def __init__(self, gpu):
        self.gpu = torch.device(gpu)
        self.dec, self.hook = cpu_offload_with_hook(Decoder(4), self.gpu)
    def __call__(self, z):
        z = z.to(self.gpu)
        shift = z.sum() + self.dec.up.bias  # finds: offloaded-to-cpu
        return self.dec(z) + shift

pipe = Pipe("cuda")
print(pipe(torch.zeros(1, 4)))
print(pipe(torch.zeros(1, 4)))
