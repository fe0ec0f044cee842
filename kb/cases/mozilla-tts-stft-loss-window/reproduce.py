"""A criterion is moved, and the window of the transform inside it is not.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the transform's device error,
``python reproduce.py fixed`` makes the transform a module with a buffer and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


def amplitude(y, n_fft, hop_length, window):
    spectrum = torch.stft(y, n_fft, hop_length, window=window, return_complex=True)
    return spectrum.abs().clamp(min=1e-7)


class TorchSTFT:
    def __init__(self, n_fft, hop_length):
        self.n_fft, self.hop_length = n_fft, hop_length
        self.window = torch.hann_window(n_fft)

    def __call__(self, y):
        return amplitude(y, self.n_fft, self.hop_length, self.window)


class TorchSTFTModule(nn.Module):
    def __init__(self, n_fft, hop_length):
        super().__init__()
        self.n_fft, self.hop_length = n_fft, hop_length
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, y):
        return amplitude(y, self.n_fft, self.hop_length, self.window)


class STFTLoss(nn.Module):
    def __init__(self, n_fft, hop_length, variant):
        super().__init__()
        self.stft = (TorchSTFTModule if variant == "fixed" else TorchSTFT)(n_fft, hop_length)

    def forward(self, y_hat, y):
        y_hat_M, y_M = self.stft(y_hat), self.stft(y)
        return nn.functional.l1_loss(y_hat_M.log(), y_M.log())


class GeneratorLoss(nn.Module):
    def __init__(self, variant):
        super().__init__()
        sizes = ((64, 16), (128, 32))
        self.losses = nn.ModuleList([STFTLoss(n, hop, variant) for n, hop in sizes])

    def forward(self, y_hat, y):
        return torch.stack([loss(y_hat, y) for loss in self.losses]).mean()


def main(variant):
    model_G = nn.Conv1d(1, 1, 9, padding=4).cuda()
    criterion_gen = GeneratorLoss(variant).cuda()
    waveform = torch.randn(2, 512, device="cuda")
    y_hat = model_G(waveform[:, None])[:, 0]
    criterion_gen(y_hat, waveform).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
