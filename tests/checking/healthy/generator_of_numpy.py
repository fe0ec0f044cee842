import numpy as np
import torch

rng = np.random.default_rng(0)
device = torch.device("cuda")
x = torch.tensor(rng.normal(size=3), device=device, dtype=torch.float32)
y = torch.randn(3, device=device)
print(x + y)
