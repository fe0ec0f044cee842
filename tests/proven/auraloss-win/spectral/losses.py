import torch
from spectral.transform import magnitudes
from torch import nn
from torch.nn import functional


class Convergence(nn.Module):
    def forward(self, ours, theirs):
        return torch.norm(theirs - ours) / torch.norm(theirs)


class LogMagnitude(nn.Module):
    def forward(self, ours, theirs):
        return functional.l1_loss(torch.log(ours), torch.log(theirs))


class SpectralLoss(nn.Module):
    """How the spectra of two waves differ."""

    def __init__(self, fft_size=1024, hop=120, length=600, window="hann_window"):
        super().__init__()
        self.fft_size = fft_size
        self.hop = hop
        self.length = length
        self.window = getattr(torch, window)(length)
        self.convergence = Convergence()
        self.magnitude = LogMagnitude()

    def forward(self, x, y):
        convergence, magnitude = 0, 0
        channels = x.size(1)
        for one, other in zip(torch.chunk(x, channels, 1), torch.chunk(y, channels, 1)):
            ours = magnitudes(one.squeeze(1), self.fft_size, self.hop, self.length, self.window)
            theirs = magnitudes(other.squeeze(1), self.fft_size, self.hop, self.length, self.window)
            convergence += self.convergence(ours, theirs)
            magnitude += self.magnitude(ours, theirs)
        return convergence, magnitude
