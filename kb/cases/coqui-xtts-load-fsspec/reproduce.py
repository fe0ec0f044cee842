"""A wrapper around torch.load has a map_location, and the model's loader does not give it one.

Needs torch; a GPU is not used. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` passes the model's device and prints "fixed: ok". The checkpoint is
marked as coming from cuda:0, and CUDA is hidden while it is read.
"""

import io
import sys
from unittest import mock

import torch
from torch import nn


def load_fsspec(path, map_location=None, **kwargs):
    filesystem = {"memory://xtts_v1/model.pth": released_checkpoint()}
    return torch.load(filesystem[path], map_location=map_location, **kwargs)


def released_checkpoint():
    file = io.BytesIO()
    with mock.patch("torch.serialization.location_tag", return_value="cuda:0"):
        torch.save({"model": Xtts().state_dict()}, file)
    file.seek(0)
    return file


class Xtts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gpt = nn.GRU(8, 16, batch_first=True)
        self.decoder = nn.Linear(16, 4)

    @property
    def device(self):
        return next(self.parameters()).device

    def load_checkpoint(self, path, variant):
        where = {"map_location": self.device} if variant == "fixed" else {}
        self.load_state_dict(load_fsspec(path, **where)["model"], strict=True)

    @torch.no_grad()
    def inference(self, text):
        return self.decoder(self.gpt(text)[0])


def main(variant):
    with mock.patch("torch.cuda.is_available", return_value=False):
        model = Xtts().to("cpu")
        model.load_checkpoint("memory://xtts_v1/model.pth", variant)
        wav = model.inference(torch.randn(1, 5, 8))
    assert wav.shape == (1, 5, 4)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
