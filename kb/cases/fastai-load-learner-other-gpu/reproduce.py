"""A learner that was exported on the second GPU is opened on a machine with one.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` maps to the machine's own default device and prints "fixed: ok".
The file is marked as coming from the GPU behind the last one that this machine has.
"""

import io
import sys
from unittest import mock

import torch
from torch import nn


def default_device():
    return torch.device("cuda", torch.cuda.current_device())


class Learner:
    def __init__(self, model):
        self.model = model

    def export(self, file):
        there = f"cuda:{torch.cuda.device_count()}"
        with mock.patch("torch.serialization.location_tag", return_value=there):
            torch.save(self, file)

    def predict(self, item):
        self.model.eval()
        device = next(self.model.parameters()).device
        return self.model(item.to(device)).argmax(dim=-1)


def load_learner(file, cpu=True, variant="failing"):
    map_location = "cpu" if cpu else None
    if variant == "fixed" and not cpu:
        map_location = default_device()
    return torch.load(file, map_location=map_location, weights_only=False)


def main(variant):
    torch.manual_seed(0)
    export_pkl = io.BytesIO()
    Learner(nn.Linear(4, 3)).export(export_pkl)
    export_pkl.seek(0)
    inf_learn = load_learner(export_pkl, cpu=False, variant=variant)
    print(inf_learn.predict(torch.randn(1, 4)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
