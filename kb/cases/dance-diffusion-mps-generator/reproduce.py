"""An audio model's noise is drawn on the accelerator, by a generator whose choice knows cuda only.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the generator's error,
``python reproduce.py fixed`` makes the generator where it draws and prints "fixed: ok". What the
backend asks, whether the device is CUDA, is asked here of a name that is never true, as on a Mac.
"""

import sys

import torch
from torch import nn


def choose_generator_device(accelerator, cuda_available=False):
    return accelerator if cuda_available else "cpu"


class DDInference:
    def __init__(self, device_accelerator, variant):
        self.device_accelerator = device_accelerator
        self.model = nn.Conv1d(2, 2, 5, padding=2).to(device_accelerator)
        where = device_accelerator
        if variant == "failing":
            where = choose_generator_device(device_accelerator)
        self.generator = torch.Generator(where)

    @torch.no_grad()
    def generate(self, seed, batch_size, chunk_size, steps):
        self.generator.manual_seed(seed)
        x_T = torch.randn(
            [batch_size, 2, chunk_size],
            generator=self.generator,
            device=self.device_accelerator,
        )
        for step in range(steps, 0, -1):
            x_T = x_T - self.model(x_T) * step / steps**2
        return x_T


def main(variant):
    accelerator = torch.accelerator.current_accelerator()
    inference = DDInference(accelerator, variant)
    audio = inference.generate(seed=7, batch_size=1, chunk_size=64, steps=4)
    assert audio.device.type == accelerator.type
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
