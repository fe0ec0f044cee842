import torch
from torch import nn


class VoiceAttention(nn.Module):
    """Each voice listens to what the others have sung so far."""

    def __init__(self, width, voices):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.voices, self.scale = voices, (width // voices) ** -0.5

    def forward(self, sung):
        q, k, v = self.qkv(sung).unflatten(-1, (3, self.voices, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * self.scale
        steps = scores.shape[-1]
        future = torch.triu(torch.ones(steps, steps, dtype=torch.bool), diagonal=1)
        scores = scores.masked_fill(future, float("-inf"))
        return (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2)


class Choir(nn.Module):
    def __init__(self, notes=88, width=32, voices=4):
        super().__init__()
        self.notes = nn.Embedding(notes, width)
        self.attention = VoiceAttention(width, voices)
        self.next_note = nn.Linear(width, notes)

    def forward(self, notes):
        return self.next_note(self.attention(self.notes(notes)))
