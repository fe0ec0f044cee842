import torch
from torch import nn
from torch.nn import functional as F


class SpeakerNet(nn.Module):
    """Compares utterances with a memory of known speakers that grows while training."""

    def __init__(self, mel_bins, width, speakers):
        super().__init__()
        self.encoder = nn.GRU(mel_bins, width, batch_first=True)
        self.speaker_memory = None
        self.width, self.speakers = width, speakers

    def forward(self, mels):
        if self.speaker_memory is None:
            self.reset_memory(mels.device)
        _, last = self.encoder(mels)
        voice = F.normalize(last[-1], dim=-1)
        return voice @ self.speaker_memory.t()

    def reset_memory(self, device):
        self.speaker_memory = F.normalize(
            torch.randn(self.speakers, self.width, device=device), dim=-1
        )
