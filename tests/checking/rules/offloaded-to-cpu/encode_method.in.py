import torch
from torch import nn
from accelerate import cpu_offload_with_hook

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 3)
    def forward(self, x):
        return self.lin(x)
    def encode(self, x):
        return self.lin(x).tanh()

device = torch.device("cuda")
encoder, hook = cpu_offload_with_hook(Encoder(), device)
x = torch.rand(4, 6, device=device)
print(encoder.encode(x))  # finds: offloaded-to-cpu
