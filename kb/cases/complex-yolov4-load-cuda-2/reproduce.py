"""Weights saved on a GPU that this machine does not have are loaded without map_location.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` maps the weights to the device of the run and prints "fixed: ok".
The file is written as a machine with one GPU more would write it: the device of each tensor is
a mark in the file, and torch.save is given that mark here.
"""

import io
import sys
from unittest import mock

import torch
from torch import nn


def published_weights():
    """A file whose tensors were on the first GPU that this machine lacks."""
    location = f"cuda:{torch.cuda.device_count()}"
    file = io.BytesIO()
    with mock.patch("torch.serialization.location_tag", return_value=location):
        torch.save(nn.Conv2d(3, 8, 3).state_dict(), file)
    file.seek(0)
    return file


def main(variant):
    device = torch.device("cuda:0")
    model = nn.Conv2d(3, 8, 3)
    pretrained_path = published_weights()
    if variant == "fixed":
        weights = torch.load(pretrained_path, map_location=device)
    else:
        weights = torch.load(pretrained_path)
    model.load_state_dict(weights)
    model.to(device)(torch.randn(1, 3, 8, 8, device=device))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
