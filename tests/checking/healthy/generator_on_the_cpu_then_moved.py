import torch

device = torch.device("cuda")
g = torch.Generator().manual_seed(0)
noise = torch.randn(2, 3, generator=g).to(device)
perm = torch.randperm(6, generator=g)
print(noise, perm)
