import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 1).to(device)
losses = []
for _ in range(3):
    out = model(torch.randn(2, 4, device=device)).detach()
    losses.append(out.square()[0])  # finds: host-copy-needed
print(np.asarray(losses))
