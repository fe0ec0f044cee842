import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.tones = nn.Embedding(20, 8), nn.Embedding(4, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, ids, tones):
        seen = torch.ones_like(ids).unsqueeze(-1)  # finds: created-without-device
        hidden = self.words(ids) + self.tones(tones)  # finds: input-not-moved
        return self.out(hidden) * seen


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = Reader()

    def export(self, path):
        ids = torch.LongTensor([0, 4, 7]).unsqueeze(0).cpu()
        tones = torch.zeros_like(ids).cpu()
        scores = self.reader(ids, tones)
        torch.save(scores, path)
