"""A classmethod maps the checkpoint to the GPU and copies it into a new model on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the finished model too and prints "fixed: ok".
``BoringModel`` has Lightning's classmethod in a few lines.
"""

import io
import sys

import torch
from torch import nn


def _load_from_checkpoint(cls, checkpoint_path, map_location, move):
    checkpoint = torch.load(checkpoint_path, map_location=map_location)
    model = cls()
    model.load_state_dict(checkpoint["state_dict"])
    if move:
        model = model.to(next(iter(checkpoint["state_dict"].values())).device)
    return model


class BoringModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(32, 2)

    def forward(self, x):
        return self.layer(x)

    @classmethod
    def load_from_checkpoint(cls, checkpoint_path, map_location=None, move=True):
        return _load_from_checkpoint(cls, checkpoint_path, map_location, move)


def main(variant):
    path = io.BytesIO()
    torch.save({"state_dict": BoringModel().state_dict()}, path)
    path.seek(0)
    model = BoringModel.load_from_checkpoint(path, map_location="cuda", move=variant == "fixed")
    scores = model(torch.randn(4, 32, device="cuda"))
    assert scores.shape == (4, 2)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
