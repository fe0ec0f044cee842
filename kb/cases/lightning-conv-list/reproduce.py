"""A stack of 1-d convolutions lies in a Python list, which the model's .to() does not look into.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the list an nn.ModuleList and prints "fixed: ok".
``Trainer`` does what matters of Lightning's: it moves the model once and then every batch.
"""

import itertools
import sys

import torch
from torch import nn
from torch.nn.functional import gelu, nll_loss


class WaveformTagger(nn.Module):
    def __init__(self, widths, tags, container):
        super().__init__()
        pairs = itertools.pairwise(widths)
        self.downsampling = container(nn.Conv1d(i, o, 5, stride=4) for i, o in pairs)
        self.classifier = nn.Sequential(nn.Linear(widths[-1], 6), nn.GELU(), nn.Linear(6, tags))

    def forward(self, waveform):
        features = waveform
        for downsample in self.downsampling:
            features = gelu(downsample(features))
        return self.classifier(features.amax(-1)).log_softmax(-1)


class Trainer:
    def __init__(self, device):
        self.device = device

    def fit(self, model, loader):
        model.to(self.device)
        optimizer = torch.optim.AdamW(model.parameters())
        for waveform, tag in loader:
            loss = nll_loss(model(waveform.to(self.device)), tag.to(self.device))
            loss.backward()
            optimizer.step()


def main(variant):
    torch.manual_seed(0)
    container = list if variant == "failing" else nn.ModuleList
    model = WaveformTagger([1, 3, 9], tags=4, container=container)
    loader = [(torch.rand(2, 1, 80), torch.tensor([3, 1]))]
    Trainer(torch.device("cuda:0")).fit(model, loader)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
