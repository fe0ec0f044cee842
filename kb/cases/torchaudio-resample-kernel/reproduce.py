"""A resampler made inside a dataset's method is called at once, on a signal that is on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the resampler to the signal's device and prints "fixed: ok".
``Resample`` keeps of torchaudio's namesake that its kernel is a buffer, applied with conv1d.
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset


class Resample(nn.Module):
    def __init__(self, orig_freq, new_freq, width=6):
        super().__init__()
        self.stride = orig_freq // new_freq
        self.width = width
        t = torch.arange(-width, width + 1) / self.stride
        self.register_buffer("kernel", (torch.sinc(t) / self.stride).view(1, 1, -1))

    def forward(self, waveform):
        padded = F.pad(waveform, (self.width, self.width + self.stride))
        return F.conv1d(padded[:, None], self.kernel, stride=self.stride)[:, 0]


class Clips(Dataset):
    def __init__(self, wanted_rate, device, variant):
        self.files = [(torch.randn(1, 800), 16000), (torch.randn(1, 1600), 32000)]
        self.wanted_rate, self.device, self.variant = wanted_rate, device, variant

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        waveform, rate = self.files[index]
        waveform = waveform.to(self.device)
        return waveform if rate == self.wanted_rate else self.converter(rate)(waveform)

    def converter(self, rate):
        """A module of its own for each file."""
        module = Resample(rate, self.wanted_rate)
        return module.to(self.device) if self.variant == "fixed" else module


def main(variant):
    clips = Clips(16000, "cuda", variant)
    assert all(clips[i].is_cuda for i in range(len(clips)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
