"""Statistics from a file land on the first GPU, while the process works on another.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` names the current GPU in full and prints "fixed: ok". torch has
mended this, so ``load_1_4`` puts the old meaning of map_location="cuda" back.
"""

import io
import sys

import torch
from torch import nn


def load_1_4(file, map_location):
    """torch.load as it was in 1.4: "cuda" without a number is GPU 0."""
    if map_location == "cuda":
        map_location = "cuda:0"
    return torch.load(file, map_location=map_location)


def normalize(features, statistics):
    return (features - statistics["mean"]) / statistics["std"]


def main(variant):
    torch.cuda.set_device(1)
    file = io.BytesIO()
    torch.save({"mean": torch.zeros(8).cuda(), "std": torch.ones(8).cuda()}, file)
    file.seek(0)

    if variant == "fixed":
        current = torch.device("cuda", torch.cuda.current_device())
        statistics = load_1_4(file, map_location=current)
    else:
        statistics = load_1_4(file, map_location="cuda")
    model = nn.Linear(8, 2).cuda()
    model(normalize(torch.randn(4, 8).cuda(), statistics))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
