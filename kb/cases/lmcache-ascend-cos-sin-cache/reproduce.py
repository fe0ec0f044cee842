"""A table of cosines on the cpu is indexed by positions on the accelerator.

Needs torch and one accelerator. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings table and positions together and prints "fixed: ok". On an
Ascend NPU the message has npu:0 where it has cuda:0 here.
"""

import sys

import torch


def compute_cos_sin_cache(dim, max_position):
    inv_freq = 1.0 / 10000 ** (torch.arange(0, dim, 2) / dim)
    freqs = torch.outer(torch.arange(max_position).float(), inv_freq)
    return torch.cat([freqs.cos(), freqs.sin()], dim=-1)


class BasicReverseRope:
    def __init__(self, dim, max_position):
        self.cos_sin_cache = compute_cos_sin_cache(dim, max_position)

    def lookup(self, positions, variant):
        cache = self.cos_sin_cache
        if variant == "fixed":
            cache = cache.to(positions.device)
        return cache.index_select(0, positions).chunk(2, dim=-1)


def validate_reverse_correctness(variant):
    """The check that is made once, at the start."""
    device = torch.accelerator.current_accelerator()
    positions = torch.arange(16, device=device)
    cos, sin = BasicReverseRope(dim=8, max_position=64).lookup(positions, variant)
    assert torch.allclose(cos**2 + sin**2, torch.ones_like(cos))


def main(variant):
    validate_reverse_correctness(variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
