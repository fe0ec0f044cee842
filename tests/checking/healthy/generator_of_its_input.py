import torch


def noise_like(x, seed):
    g = torch.Generator(device=x.device)
    g.manual_seed(seed)
    return torch.randn(x.shape, generator=g, device=x.device)


print(noise_like(torch.ones(2).cuda(), 1))
