"""A network belongs to a plain object that a model holds, so that moving the model leaves it out.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the convolution's error,
``python reproduce.py fixed`` moves the manager's encoder too and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import cosine_similarity


class ResNetSpeakerEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 8, 16, stride=8)
        self.fc = nn.Linear(8, 4)

    def forward(self, waveform):
        return self.fc(self.conv1(waveform).mean(-1))


class SpeakerManager:
    """Knows speakers' names and vectors, and computes vectors of new audio."""

    def __init__(self):
        self.name_to_id = {"ljspeech": 0}
        self.encoder = None

    def init_encoder(self):
        self.encoder = ResNetSpeakerEncoder().eval().requires_grad_(False)


class Vits(nn.Module):
    def __init__(self, speaker_manager):
        super().__init__()
        self.speaker_manager = speaker_manager
        self.waveform_decoder = nn.ConvTranspose1d(4, 1, 16, stride=8)

    def forward(self, z):
        return self.waveform_decoder(z)

    def speaker_loss(self, wav, target):
        encoder = self.speaker_manager.encoder
        return -cosine_similarity(encoder(wav), encoder(target)).mean()


def main(variant):
    speaker_manager = SpeakerManager()
    speaker_manager.init_encoder()
    model = Vits(speaker_manager).to("cuda")
    if variant == "fixed":
        speaker_manager.encoder = speaker_manager.encoder.cuda()
    wav = model(torch.randn(2, 4, 10, device="cuda"))
    model.speaker_loss(wav, torch.randn_like(wav)).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
