"""A scheduler's table has moved to the GPU by the time a loss looks its steps up from the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends the steps to wherever the table is and prints "fixed: ok".
``DDIMScheduler`` keeps of diffusers' namesake that add_noise leaves the table with the samples.
"""

import sys

import torch
from torch.nn import functional as F


class DDIMScheduler:
    def __init__(self, num_train_timesteps=100):
        betas = torch.linspace(1e-4, 0.02, num_train_timesteps)
        self.alphas_cumprod = torch.cumprod(1 - betas, dim=0)

    def add_noise(self, original_samples, noise, timesteps):
        self.alphas_cumprod = self.alphas_cumprod.to(original_samples.device)
        alpha = self.alphas_cumprod[timesteps][:, None]
        return alpha.sqrt() * original_samples + (1 - alpha).sqrt() * noise


def get_huber_threshold(noise_scheduler, timesteps, variant, huber_c=0.1):
    table = noise_scheduler.alphas_cumprod
    device = table.device if variant == "fixed" else "cpu"
    signal = torch.index_select(table, 0, timesteps.to(device))
    return torch.lerp(torch.full_like(signal, huber_c), torch.ones_like(signal), signal)


def process_batch(unet, latents, noise_scheduler, variant):
    noise = torch.randn_like(latents)
    timesteps = torch.randint(100, (len(latents),), device=latents.device)
    noisy_latents = noise_scheduler.add_noise(latents, noise, timesteps)
    huber_c = get_huber_threshold(noise_scheduler, timesteps, variant)
    loss = F.mse_loss(unet(noisy_latents), noise, reduction="none").mean(1)
    return (huber_c.to(loss.device) * loss).mean()


def main(variant):
    torch.manual_seed(0)
    unet = torch.nn.Linear(16, 16).to("cuda")
    latents = torch.randn(4, 16, device="cuda")
    process_batch(unet, latents, DDIMScheduler(), variant).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
