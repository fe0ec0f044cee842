# One number of a table on the host mixes with a tensor on the GPU; so does each that a loop takes.
import torch

x = torch.rand(3, 4, device="cuda")
offsets = torch.zeros((3,), dtype=torch.long) + 2
for row in range(3):
    x[row] = x[row] * offsets[row]
for step in torch.linspace(0, 1, 5):
    x = x * step
print(x.shape)
