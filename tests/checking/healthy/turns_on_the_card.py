import torch
from accelerate import cpu_offload_with_hook
from torch import nn

class Brush(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.lin = nn.Linear(d, d)
    def stroke(self, x):
        return self.lin(x).sigmoid()
    def forward(self, x):
        return self.stroke(x) + x

gpu = torch.device("cuda:0")
broad, of_broad = cpu_offload_with_hook(Brush(), gpu)
fine, of_fine = cpu_offload_with_hook(Brush(), gpu, prev_module_hook=of_broad)
x = torch.rand(2, 4, device=gpu)
x = broad(x)
x = broad.stroke(x)  # it is still there
x = fine(x)
x = fine.stroke(x)
broad.to(gpu)
x = broad.stroke(x)
of_broad.offload()
of_fine.offload()
broad._hf_hook.pre_forward(broad)
print(broad.stroke(x).shape, fine(x).shape)
