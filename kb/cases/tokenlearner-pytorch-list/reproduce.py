"""One attention module for each learned token, in a list that .to() does not see.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the convolution's error,
``python reproduce.py fixed`` keeps them in a ModuleList and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class SpatialAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(2, 1, 3, padding=1), nn.BatchNorm2d(1), nn.Sigmoid())

    def forward(self, x):
        pooled = torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], dim=1)
        return (x * self.conv(pooled)).mean(dim=(2, 3))


class TokenLearner(nn.Module):
    def __init__(self, S, variant):
        super().__init__()
        tokenizers = [SpatialAttention() for _ in range(S)]
        self.tokenizers = nn.ModuleList(tokenizers) if variant == "fixed" else tokenizers

    def forward(self, x):
        return torch.stack([tokenizer(x) for tokenizer in self.tokenizers], dim=1)


class VideoClassifier(nn.Module):
    def __init__(self, variant, dim=8, classes=5):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 4, stride=4)
        self.token_learner = TokenLearner(4, variant)
        self.encoder = nn.TransformerEncoderLayer(dim, 2, 16, batch_first=True)
        self.head = nn.Linear(dim, classes)

    def forward(self, frames):
        tokens = self.token_learner(self.patch_embed(frames))
        return self.head(self.encoder(tokens).mean(1))


def main(variant):
    model = VideoClassifier(variant).to("cuda")
    frames = torch.rand(2, 3, 32, 32, device="cuda")
    labels = torch.randint(5, (2,), device="cuda")
    nn.functional.cross_entropy(model(frames), labels).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
