"""A prior that has been moved to the GPU goes on sampling on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in an AssertionError that names the
devices, ``python reproduce.py fixed`` samples from the buffers and prints "fixed: ok".
``HalfNormalPrior`` is GPyTorch's in small: a module and a distribution that wraps another one; the
buffer is a copy of the wrapped one's scale.
"""

import sys

import torch
from torch import nn
from torch.distributions import Normal


class NormalPrior(nn.Module):
    def __init__(self, loc, scale):
        super().__init__()
        self.register_buffer("loc", torch.tensor(loc))
        self.register_buffer("scale", torch.tensor(scale))

    def rsample(self, shape=()):
        return Normal(self.loc, self.scale).rsample(shape)


class HalfNormalPrior(nn.Module):
    def __init__(self, scale, variant):
        super().__init__()
        self.base_dist = Normal(torch.zeros(()), torch.tensor(scale))
        self.register_buffer("_transformed_scale", self.base_dist.scale.clone())
        self.variant = variant

    def rsample(self, shape=()):
        base_dist = self.base_dist
        if self.variant == "fixed":
            scale = self._transformed_scale
            base_dist = Normal(torch.zeros_like(scale), scale)
        return base_dist.rsample(shape).abs()


def main(variant):
    torch.manual_seed(0)
    for prior in (NormalPrior(1.0, 1.0), HalfNormalPrior(1.0, variant)):
        prior.to("cuda:0")
        samples = prior.rsample((3,))
        state = next(iter(prior.state_dict().values()))
        assert samples.device == state.device, (
            f"{type(prior).__name__} is on {state.device} and samples silently on {samples.device}"
        )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
