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


class UrbanSoundDataset(Dataset):
    def __init__(self, target_sample_rate, device, variant):
        self.files = [(torch.randn(1, 800), 16000), (torch.randn(1, 1600), 32000)]
        self.target_sample_rate, self.device, self.variant = target_sample_rate, device, variant

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        signal, sr = self.files[index]
        return self._resample_if_necessary(signal.to(self.device), sr)

    def _resample_if_necessary(self, signal, sr):
        if sr != self.target_sample_rate:
            resampler = Resample(sr, self.target_sample_rate)
            if self.variant == "fixed":
                resampler = resampler.to(self.device)
            signal = resampler(signal)
        return signal


def main(variant):
    usd = UrbanSoundDataset(16000, "cuda", variant)
    signals = [usd[i] for i in range(len(usd))]
    assert all(signal.is_cuda for signal in signals)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
