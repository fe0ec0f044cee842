"""A network that was wrapped for training is called on the cpu of a machine with GPUs.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` leaves the wrapper out and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class CompletionNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, x):
        return self.conv1(x).sigmoid()


def load_trained():
    """The model as training leaves it: moved to the first GPU and wrapped."""
    return nn.DataParallel(CompletionNetwork().to("cuda:0"), device_ids=[0, 1])


def predict(variant):
    torch.manual_seed(0)
    model = load_trained().cpu()
    if variant == "fixed":
        model = model.module
    image, mask = torch.rand(1, 3, 8, 8), torch.zeros(1, 1, 8, 8)
    output = model(torch.cat((image, mask), dim=1))
    assert output.device.type == "cpu"
    print(f"{variant}: ok")


if __name__ == "__main__":
    predict(sys.argv[1])
