"""A normalisation of embeddings keeps its running mean in a plain attribute.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps it in a buffer and prints "fixed: ok". As in the original the
mean of what was seen before is weighed against the new one.
"""

import sys

import torch
from torch import nn


class InputNormalization(nn.Module):
    def __init__(self, dim, variant):
        super().__init__()
        glob_mean = torch.zeros(dim)
        if variant == "fixed":
            self.register_buffer("glob_mean", glob_mean)
        else:
            self.glob_mean = glob_mean
        self.count = 1

    def forward(self, x):
        current_mean = x.mean(dim=0)
        weight = 1 / (self.count + 1)
        self.glob_mean = (1 - weight) * self.glob_mean + weight * current_mean
        self.count += 1
        return x - self.glob_mean


class SpeakerRecognition(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.embedding_model = nn.Sequential(nn.Conv1d(1, 8, 32, stride=16), nn.ReLU())
        self.mean_var_norm_emb = InputNormalization(8, variant)

    @torch.no_grad()
    def encode_batch(self, wavs, normalize=False):
        embeddings = self.embedding_model(wavs[:, None]).mean(-1)
        if normalize:
            embeddings = self.mean_var_norm_emb(embeddings)
        return embeddings


def main(variant):
    encoder = SpeakerRecognition(variant)
    encoder.to("cuda:0")
    signal = torch.randn(2, 160, device="cuda:0")
    encoder.encode_batch(signal)
    encoder.encode_batch(signal, normalize=True)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
