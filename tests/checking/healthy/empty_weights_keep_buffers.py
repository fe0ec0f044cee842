import torch
from accelerate import init_empty_weights
from torch import nn

class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("notes", torch.arange(12) / 12, persistent=False)
        self.base = nn.Parameter(torch.zeros(1, 12))
        self.out = nn.Linear(12, 2)

    def forward(self, x):
        return self.out(x + self.notes + self.base)

saved = Scale().state_dict()
with init_empty_weights():  # weights alone
    scale = Scale()
scale.load_state_dict(saved, assign=True)
print(scale.cuda()(torch.rand(3, 12, device="cuda")))
