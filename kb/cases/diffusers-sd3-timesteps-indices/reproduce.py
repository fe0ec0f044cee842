"""Indices that were drawn on the GPU look timesteps up in a scheduler's table on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` draws them on the cpu and prints "fixed: ok".
"""

import sys

import torch


class FlowMatchEulerDiscreteScheduler:
    num_train_timesteps = 1000

    def __init__(self):
        self.timesteps = torch.arange(self.num_train_timesteps, 0, -1).float()


def compute_density_for_timestep_sampling(bsz, device):
    return torch.normal(mean=0.0, std=1.0, size=(bsz,), device=device).sigmoid()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    noise_scheduler = FlowMatchEulerDiscreteScheduler()
    model_input = torch.randn(2, 4, 8, 8, device=device)

    u = compute_density_for_timestep_sampling(2, device if variant == "failing" else "cpu")
    indices = (u * noise_scheduler.num_train_timesteps).long()
    timesteps = noise_scheduler.timesteps[indices].to(device=model_input.device)
    assert timesteps.device == device
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
