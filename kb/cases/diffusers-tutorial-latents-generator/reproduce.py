"""Latents on the GPU are drawn with the cpu's generator, which torch.manual_seed returns.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the generator on the GPU and prints "fixed: ok".
"""

import sys

import torch


def main(variant):
    torch_device = "cuda"
    batch_size, in_channels, height, width = 1, 4, 64, 64
    generator = torch.manual_seed(0)
    if variant == "fixed":
        generator = torch.Generator(device=torch_device).manual_seed(0)

    latents = torch.randn(
        (batch_size, in_channels, height // 8, width // 8),
        generator=generator,
        device=torch_device,
    )
    assert latents.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
