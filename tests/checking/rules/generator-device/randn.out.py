import torch

device = torch.device("cuda")
g = torch.Generator(device=device)  # finds: generator-device
g.manual_seed(0)
latents = torch.randn(1, 4, 8, 8, generator=g, device=device)
