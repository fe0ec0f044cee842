"""Classifies galaxies by shape, on the two GPUs that the queue gives to a job."""

import logging

import torch
from torch import nn

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level="INFO")
log = logging.getLogger("morphology")


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, maps):
        return torch.relu(maps + self.bn(self.conv(maps)))


def build(classes, main_gpu):
    layers = [nn.Conv2d(1, 8, 7, stride=4), *(Residual(8) for _ in range(3))]
    network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, classes))
    network.cuda(main_gpu)
    return nn.DataParallel(network, device_ids=[0, 1])


def run_epoch(network, stamps, shapes):
    loss = nn.functional.cross_entropy(network(stamps), shapes)
    loss.backward()
    return loss.item()


def main():
    main_gpu = 1
    network = build(classes=4, main_gpu=main_gpu)
    stamps = torch.rand(16, 1, 64, 64).cuda(main_gpu)
    shapes = torch.randint(4, (16,)).cuda(main_gpu)
    log.info("%d galaxies, main GPU %d", len(stamps), main_gpu)
    try:
        log.info("loss %.3f", run_epoch(network, stamps, shapes))
    except RuntimeError:
        log.exception("training stopped")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
