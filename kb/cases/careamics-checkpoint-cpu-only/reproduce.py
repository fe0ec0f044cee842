"""A library opens a checkpoint from a GPU machine on a machine without CUDA.

Needs torch; a GPU is not used. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` loads onto the cpu and prints "fixed: ok". The program plays both
machines: the file is marked as coming from cuda:0, and CUDA is hidden while it is read.
"""

import io
import sys
from unittest import mock

import torch
from torch import nn


def train_on_gpu_machine():
    file = io.BytesIO()
    with mock.patch("torch.serialization.location_tag", return_value="cuda:0"):
        torch.save({"state_dict": nn.Conv2d(1, 4, 3).state_dict()}, file)
    file.seek(0)
    return file


def _load_checkpoint(path, variant):
    if variant == "fixed":
        return torch.load(path, map_location="cpu")
    return torch.load(path)


class CAREamist:
    def __init__(self, source, variant):
        self.model = nn.Conv2d(1, 4, 3)
        self.model.load_state_dict(_load_checkpoint(source, variant)["state_dict"])


def main(variant):
    checkpoint = train_on_gpu_machine()
    with mock.patch("torch.cuda.is_available", return_value=False):
        careamist = CAREamist(checkpoint, variant)
        careamist.model(torch.randn(1, 1, 8, 8))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
