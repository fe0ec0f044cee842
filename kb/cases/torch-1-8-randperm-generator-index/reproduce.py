"""A generator on "cuda" is not taken for one on "cuda:0" by randperm of torch 1.8.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about the generator,
``python reproduce.py fixed`` names the GPU's number in the generator and prints "fixed: ok".
``Generator`` and ``randperm`` are those of torch 1.8 as far as devices go: the one keeps the device
as it was written, the other compares it with that of its result.
"""

import sys

import torch


class Generator:
    def __init__(self, device):
        self.device = torch.device(device)
        self.torch = torch.Generator(device=device)


def randperm(n, generator):
    result_device = torch.empty(0).device
    if generator.device != result_device:
        raise RuntimeError(
            f"Expected a '{result_device}' generator device but found '{generator.device}'"
        )
    return torch.randperm(n, generator=generator.torch)


def sample_points(points, n, rng):
    first = torch.randint(low=0, high=len(points), size=(1,), generator=rng.torch)
    rest = randperm(len(points), generator=rng)[: n - 1]
    return points[torch.cat([first, rest])]


def main(variant):
    torch.set_default_device("cuda")
    rng = Generator("cuda:0" if variant == "fixed" else "cuda")
    print(sample_points(torch.rand(50, 3), 8, rng).shape)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
