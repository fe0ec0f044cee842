from contextlib import contextmanager
import torch
from torch import nn

@contextmanager
def on_card(model):
    model.to("cuda")
    try:
        yield model
    finally:
        model.to("cpu")  # offload

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        return self.fc(x) + torch.ones(len(x), 1, device=x.device)

parts = {"head": Head(), "tail": Head()}
x = torch.rand(5, 3, device="cuda")
for name in ("head", "tail"):
    with on_card(parts[name]) as part, torch.no_grad():
        x = part(x)
with on_card(parts["head"]) as part:
    print(part(x).shape)
