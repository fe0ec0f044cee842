import torch

device = torch.device("cuda")
g = torch.Generator(device=device).manual_seed(0)
print(torch.randn(3, generator=g, device=device))
h = torch.Generator(device)
print(torch.rand(3, generator=h, device="cuda"))
