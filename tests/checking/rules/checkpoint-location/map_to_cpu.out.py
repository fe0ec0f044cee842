import torch
from torch import nn

DEVICE = "cuda"
torch.save({"ema": torch.zeros(3), "step": 3}, "ema.pt")
state = torch.load("ema.pt", map_location=DEVICE)  # finds: checkpoint-location
layer = nn.Linear(3, 3).to(DEVICE)
ema = state["ema"]
for _ in range(2):
    out = layer(torch.rand(3, device=DEVICE))
    ema = 0.9 * ema + 0.1 * out.detach()
