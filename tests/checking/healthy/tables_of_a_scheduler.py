import torch
from diffusers import DDPMScheduler

device = torch.device("cuda")
noise_scheduler = DDPMScheduler(num_train_timesteps=100)
x = torch.randn(4, 3, 8, 8, device=device)
t = torch.randint(0, 100, (4,), device=device)
noisy = noise_scheduler.add_noise(x, torch.randn_like(x), t)
print(noisy.mean().item(), noise_scheduler.alphas_cumprod[t].mean().item())
