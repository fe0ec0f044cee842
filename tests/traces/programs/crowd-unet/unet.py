import torch
from torch import nn


def block(channels_in, channels_out):
    return nn.Sequential(nn.Conv2d(channels_in, channels_out, 3, padding=1), nn.ReLU())


class CrowdUNet(nn.Module):
    """Estimates a density map of people; its depth is a parameter, so it is built in loops."""

    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        self.encoder = nn.ModuleList()
        channels = 3
        for width in widths:
            self.encoder.append(block(channels, width))
            channels = width
        self.pool, self.up = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)
        self.decoder = []
        for width in reversed(widths[:-1]):
            self.decoder.append(block(channels + width, width))
            channels = width
        self.head = nn.Conv2d(channels, 1, 1)

    def forward(self, frames):
        skips = []
        for stage in self.encoder:
            frames = stage(self.pool(frames) if skips else frames)
            skips.append(frames)
        skips.pop()
        for stage in self.decoder:
            frames = stage(torch.cat([self.up(frames), skips.pop()], dim=1))
        return self.head(frames)
