"""A detector is loaded, wrapped for all GPUs, and left on the cpu.

Needs torch and two GPUs: with one, DataParallel moves its module by itself. ``python reproduce.py
failing`` ends in DataParallel's error, ``python reproduce.py fixed`` moves the wrapped detector
and prints "fixed: ok".
"""

import io
import sys

import torch
from torch import nn


class CRAFT(nn.Module):
    def __init__(self):
        super().__init__()
        self.basenet = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU())
        self.conv_cls = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        return self.conv_cls(self.basenet(x)).permute(0, 2, 3, 1)


def copy_state_dict(state_dict):
    """Names of a checkpoint that was itself saved from a DataParallel."""
    return {key.removeprefix("module."): value for key, value in state_dict.items()}


def trained_model():
    file = io.BytesIO()
    torch.save({f"module.{key}": value for key, value in CRAFT().state_dict().items()}, file)
    file.seek(0)
    return file


def get_detector(trained_model, device, variant):
    net = CRAFT()
    net.load_state_dict(copy_state_dict(torch.load(trained_model, map_location=device)))
    if device != "cpu":
        net = torch.nn.DataParallel(net)
        if variant == "fixed":
            net = net.to(device)
    return net.eval()


@torch.no_grad()
def get_textbox(detector, images, device):
    y = detector(images.to(device))
    return (y[..., 0] > 0.7).flatten(1).sum(1)


def main(variant):
    device = "cuda"
    detector = get_detector(trained_model(), device, variant)
    assert len(get_textbox(detector, torch.rand(4, 3, 32, 32), device)) == 4
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
