import torch
from torch import nn

device = torch.device("cuda")
layer = nn.Linear(1000, 1000, device="meta")
state = {"weight": torch.zeros(1000, 1000), "bias": torch.zeros(1000)}
layer.to_empty(device=device)  # finds: meta-tensor
layer.load_state_dict(state)
