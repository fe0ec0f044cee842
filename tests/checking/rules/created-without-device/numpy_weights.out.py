import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 3).to(device)
counts = np.array([10.0, 20.0, 70.0], dtype="float32")
weights = torch.from_numpy(1.0 / counts).to(device)  # finds: created-without-device
x = torch.rand(8, 4, device=device)
y = torch.randint(3, (8,), device=device)
logits = net(x)
scaled = logits * weights
print(scaled.mean())
