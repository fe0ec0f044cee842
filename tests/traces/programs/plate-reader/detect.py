"""python detect.py --gpu 1: finds number plates on the GPU that is free."""

import argparse

import torch
from postprocess import best_cells
from torch import nn


class PlateHeatmap(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 5, stride=4, padding=2),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
        )
        self.heat = nn.Conv2d(16, 1, 1)

    def forward(self, pictures):
        return self.heat(self.backbone(pictures)).squeeze(1)


@torch.no_grad()
def detect(network, pictures):
    return best_cells(network(pictures), count=3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int, default=0)
    args = parser.parse_args()
    device = torch.device("cuda", args.gpu)
    network = PlateHeatmap().to(device).eval()
    pictures = torch.rand(2, 3, 64, 128).to(device)
    print(detect(network, pictures).tolist())


if __name__ == "__main__":
    main()
