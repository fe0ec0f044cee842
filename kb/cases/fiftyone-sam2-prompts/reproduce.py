"""Prompts reach SAM2's low-level predictor as cpu tensors, while its weights are on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the prompts to the processor's device and prints "fixed: ok".
Of SAM's prompt encoder there are random waves and an embedding, the rest is left out. The public
predict() of SAM2 moves the prompts itself; _predict() expects that this has been done.
"""

import sys

import torch
from torch import nn


class PromptEncoder(nn.Module):
    """Where a point is, by random waves, and whether it is inside or outside of the object."""

    def __init__(self, width=8):
        super().__init__()
        self.register_buffer("waves", torch.randn(2, width))
        self.kinds = nn.Embedding(2, width)

    def forward(self, points):
        coords, labels = points
        return torch.sin(coords @ self.waves) + self.kinds(labels)


class SAM2ImagePredictor:
    def __init__(self, sam_prompt_encoder):
        self.sam_prompt_encoder = sam_prompt_encoder

    @property
    def device(self):
        return self.sam_prompt_encoder.waves.device

    def _predict(self, point_coords, point_labels):
        return self.sam_prompt_encoder(points=(point_coords, point_labels))


def predict(processor, point_coords, point_labels, variant):
    if variant == "fixed":
        point_coords = point_coords.to(processor.device)
        point_labels = point_labels.to(processor.device)
    return processor._predict(point_coords=point_coords, point_labels=point_labels)


def main(variant):
    torch.manual_seed(0)
    processor = SAM2ImagePredictor(PromptEncoder().to("cuda:0"))
    predict(processor, torch.rand(1, 3, 2), torch.tensor([[1, 0, 1]]), variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
