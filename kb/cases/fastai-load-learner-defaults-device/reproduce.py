"""A learner that was exported on a GPU is opened where only the default device says cpu.

Needs torch; a GPU is not used. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` asks for the cpu while loading and prints "fixed: ok". The program
plays both machines: the file is marked as coming from cuda:0, and CUDA is hidden while it is read.
"""

import io
import sys
from types import SimpleNamespace
from unittest import mock

import torch
from torch import nn

defaults = SimpleNamespace(device=torch.device("cuda"))


class Learner:
    def __init__(self, classes, model):
        self.classes = classes
        self.model = model

    def export(self, file):
        """Everything that prediction needs; the data stay behind."""
        state = {"classes": self.classes, "model": self.model}
        with mock.patch("torch.serialization.location_tag", return_value="cuda:0"):
            torch.save(state, file)

    def predict(self, item):
        index = self.model(item.to(defaults.device)).argmax().item()
        return self.classes[index]


def load_learner(file, cpu=False):
    map_location = "cpu" if cpu else None
    return Learner(**torch.load(file, map_location=map_location, weights_only=False))


def main(variant):
    torch.manual_seed(0)
    export_pkl = io.BytesIO()
    Learner(["black", "grizzly", "teddys"], nn.Linear(6, 3)).export(export_pkl)
    export_pkl.seek(0)

    defaults.device = torch.device("cpu")
    with mock.patch("torch.cuda.is_available", return_value=False):
        learn = load_learner(export_pkl, cpu=variant == "fixed")
    print(learn.predict(torch.randn(1, 6)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
