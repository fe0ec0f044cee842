"""A forward that was set on the instance runs with the first GPU's weights in every replica.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has its forward in a class and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class TracedConv2d(nn.Conv2d):
    """What the patched instance does, said in a class, which replicas share without harm."""

    def forward(self, input):
        return super().forward(input)


def patch(module):
    """Wraps the forward of an instance, as tracing and compression tools do."""
    original_forward = module.forward

    def traced_forward(input):
        return original_forward(input)

    module.forward = traced_forward
    return module


def main(variant):
    torch.manual_seed(0)
    model = patch(nn.Conv2d(1, 1, 1)) if variant == "failing" else TracedConv2d(1, 1, 1)
    model.cuda()
    example_input = torch.ones(10, 1, 3, 3).cuda()
    model(example_input)
    parallel_model = nn.DataParallel(model, device_ids=[0, 1])
    parallel_model(example_input)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
