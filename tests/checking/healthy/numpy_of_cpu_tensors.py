import numpy as np
import torch

device = torch.device("cuda")
grid = torch.linspace(0, 1, 5)
print(np.array(grid), grid.numpy())
x = grid.to(device)
print(x.sum().item(), grid.numpy().mean())
