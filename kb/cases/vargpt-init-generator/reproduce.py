"""A parameter is made on the GPU by the trainer's context and filled from a cpu generator.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the generator on the parameter's device and prints "fixed: ok".
``torch.device`` as a context stands for what ZeRO-3's initialization does to torch's factories.
"""

import os
import sys

import torch
from torch import nn


class Infinity(nn.Module):
    def __init__(self, text_channels=8, width=8, text_maxlen=16, variant="failing"):
        super().__init__()
        self.text_proj = nn.Linear(text_channels, width)
        if variant == "fixed":
            rng = torch.Generator(device=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
        else:
            rng = torch.Generator(device="cpu")
        rng.manual_seed(0)
        noise = torch.empty(text_maxlen, text_channels).normal_(0, 0.02, generator=rng)
        self.without_text = nn.Parameter(noise)

    def forward(self, text, drop):
        text = torch.where(drop[:, None, None], self.without_text[: text.shape[1]], text)
        return self.text_proj(text)


def build_under_zero3(variant):
    with torch.device("cuda", int(os.environ["LOCAL_RANK"])):
        return Infinity(variant=variant)


def main(variant):
    os.environ["LOCAL_RANK"] = "0"
    model = build_under_zero3(variant)
    text = torch.randn(2, 5, 8, device="cuda:0")
    model(text, torch.tensor([True, False], device="cuda:0")).mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
