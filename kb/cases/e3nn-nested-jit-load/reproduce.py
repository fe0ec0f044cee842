"""A module that unpickles its own code reads it without the map_location of the outer load.

Needs torch; a GPU is not used. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` names a location inside as well and prints "fixed: ok". The program
plays both machines: the file is marked as coming from cuda:0, and CUDA is hidden while it is read.
e3nn's inner file is TorchScript; here it is a second torch.save, which behaves alike.
"""

import io
import sys
from unittest import mock

import torch
from torch import nn

INNER_LOCATION = None


class CodeGenMixin:
    """Keeps generated functions as bytes while the module is pickled."""

    def __getstate__(self):
        buffer = io.BytesIO()
        torch.save(self.__dict__["_codegen"], buffer)
        return {**self.__dict__, "_codegen": buffer.getvalue()}

    def __setstate__(self, state):
        buffer = io.BytesIO(state["_codegen"])
        smod = torch.load(buffer, map_location=INNER_LOCATION, weights_only=False)
        self.__dict__.update(state, _codegen=smod)


class TensorProduct(CodeGenMixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.__dict__["_codegen"] = {"wigner_3j": torch.eye(4)}

    def forward(self, x):
        return x @ self.__dict__["_codegen"]["wigner_3j"] * self.weight


def train_on_gpu_machine():
    file = io.BytesIO()
    with mock.patch("torch.serialization.location_tag", return_value="cuda:0"):
        torch.save(TensorProduct(), file)
    file.seek(0)
    return file


def main(variant):
    global INNER_LOCATION
    if variant == "fixed":
        INNER_LOCATION = "cpu"
    model_file = train_on_gpu_machine()
    with mock.patch("torch.cuda.is_available", return_value=False):
        model = torch.load(model_file, map_location="cpu", weights_only=False)
        model(torch.randn(2, 4))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
