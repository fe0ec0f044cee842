"""A method that __init__ stored in an attribute runs on the first GPU's module in every replica.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` looks the method up on the replica and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class EmbeddedGaussian(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.theta = nn.Conv2d(3, 4, 1)
        self.variant = variant
        self.operation_name = "_gaussian"
        # Bound to this very module, and copied as it is to the replicas.
        self.operation_function = self._gaussian

    def forward(self, x):
        if self.variant == "failing":
            output = self.operation_function(x)
        else:
            output = getattr(self, self.operation_name)(x)
        return output

    def _gaussian(self, x):
        return self.theta(x).exp()


def main(variant):
    torch.manual_seed(0)
    model = nn.DataParallel(EmbeddedGaussian(variant), device_ids=[0, 1]).cuda()
    output = model(torch.randn(4, 3, 8, 8).cuda())
    assert output.shape == (4, 4, 8, 8)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
