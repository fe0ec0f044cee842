# devices: cuda:0,cuda:1
# causes: checkpoint-location
import argparse

import torch
from torch import nn


class Normalizer:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return (x - self.mean) / self.std  # fails


def continued(path, gpu):
    device = torch.device("cuda", gpu)
    saved = torch.load(path)  # here
    net = nn.Linear(8, 8).to(device)
    net.load_state_dict(saved["net"])
    normalize = Normalizer(**saved["statistics"])
    for _ in range(3):
        x = torch.randn(4, 8).to(device)
        print(net(normalize(x)).sum().item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int, default=0)
    continued("speech.pt", parser.parse_args().gpu)
