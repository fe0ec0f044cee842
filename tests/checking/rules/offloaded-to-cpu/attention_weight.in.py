import torch
from accelerate import cpu_offload_with_hook
from torch import nn
import torch.nn.functional as F

class Scorer(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.key = nn.Linear(d, d, bias=False)
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        return self.out(self.key(x))

def similarity(scorer, a, b):
    return F.linear(a, scorer.key.weight) @ b.T  # finds: offloaded-to-cpu

if __name__ == "__main__":
    scorer, _ = cpu_offload_with_hook(Scorer(), execution_device="cuda:0")
    rows = torch.randn(3, 8, device="cuda:0")
    print(similarity(scorer, rows, rows))
    print(scorer(rows).shape)
