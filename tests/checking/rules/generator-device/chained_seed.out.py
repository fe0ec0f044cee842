import torch


def initial_noise(shape, seed, device="cuda"):
    generator = torch.Generator(device=device).manual_seed(seed)  # finds: generator-device
    return torch.randn(shape, device=device, generator=generator)


print(initial_noise((2, 3), 7))
