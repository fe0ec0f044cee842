"""Prompts reach SAM2's low-level predictor as cpu tensors, while its weights are on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the prompts to the processor's device and prints "fixed: ok".
The prompt encoder has the random Fourier features of SAM's, the rest is left out. The public
predict() of SAM2 moves the prompts itself; _predict() expects that this has been done.
"""

import sys

import torch
from torch import nn


class PositionEmbeddingRandom(nn.Module):
    def __init__(self, num_pos_feats=4):
        super().__init__()
        self.register_buffer("gaussian_matrix", torch.randn(2, num_pos_feats))

    def forward_with_coords(self, coords):
        coords = (2 * coords - 1) @ self.gaussian_matrix
        return torch.cat([coords.sin(), coords.cos()], dim=-1)


class PromptEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.pe_layer = PositionEmbeddingRandom()
        self.point_embeddings = nn.Embedding(2, 8)

    def _embed_points(self, points, labels):
        point_embedding = self.pe_layer.forward_with_coords(points)
        return point_embedding + self.point_embeddings(labels)

    def forward(self, points):
        coords, labels = points
        return self._embed_points(coords, labels)


class SAM2ImagePredictor:
    def __init__(self, sam_prompt_encoder):
        self.sam_prompt_encoder = sam_prompt_encoder

    @property
    def device(self):
        return self.sam_prompt_encoder.point_embeddings.weight.device

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
