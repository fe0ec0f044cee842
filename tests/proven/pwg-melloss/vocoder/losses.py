import torch
import torch.nn.functional as F
from torch import nn


class MelSpectrogram(nn.Module):
    def __init__(self, fft_size=1024, hop_size=256, window="hann", num_mels=80):
        super().__init__()
        self.fft_size = fft_size
        self.hop_size = hop_size
        self.window = window
        self.register_buffer("melmat", torch.rand(fft_size // 2 + 1, num_mels))

    def forward(self, x):
        if x.dim() == 3:
            x = x.reshape(-1, x.size(2))
        window = getattr(torch, f"{self.window}_window")(self.fft_size, device=x.device)
        spectrum = torch.stft(x, self.fft_size, self.hop_size, window=window, return_complex=True)
        amplitude = spectrum.transpose(1, 2).abs().clamp(min=1e-10)
        mel = torch.matmul(amplitude, self.melmat)
        return mel.clamp(min=1e-10).log10().transpose(1, 2)


class MelLoss(nn.Module):
    def __init__(self, fft_size=1024, hop_size=256, window="hann", num_mels=80):
        super().__init__()
        self.mel_spectrogram = MelSpectrogram(
            fft_size=fft_size,
            hop_size=hop_size,
            window=window,
            num_mels=num_mels,
        )

    def forward(self, y_hat, y):
        mel_hat = self.mel_spectrogram(y_hat)
        mel = self.mel_spectrogram(y)
        return F.l1_loss(mel_hat, mel)
