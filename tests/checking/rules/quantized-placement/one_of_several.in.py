import copy
import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic

def tower():
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.Tanh(), nn.Linear(6, 2)).eval()

class Bench:
    def __init__(self, device):
        self.device = device
        self.full = tower().to(device)
        self.int8 = quantize_dynamic(copy.deepcopy(self.full).cpu(), {nn.Linear}, dtype=torch.qint8)

    def compare(self, x):
        x = x.to(self.device)
        return (self.full(x) - self.int8(x)).abs().max()  # finds: quantized-placement

print(Bench("cuda").compare(torch.rand(2, 3, 4)))
