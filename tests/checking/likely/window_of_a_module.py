import torch
from torch import nn


class Spectrum(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def loudness(self, wave):
        window = torch.hann_window(self.size)  # finds: created-without-device
        return (wave.reshape(2, -1, self.size) * window).square().mean(-1)
