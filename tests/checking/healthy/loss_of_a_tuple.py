# A loss that is handed several values in one takes them apart itself.
import torch
from torch import nn
from transformers.losses import ViterbiLoss


class Tagger(nn.Module):
    def __init__(self, crf=True):
        super().__init__()
        self.head = nn.Linear(4, 4)
        self.crf = crf
        self.loss = ViterbiLoss() if crf else nn.CrossEntropyLoss()
        self.to("cuda")

    def forward(self, rows, wanted):
        lengths = torch.LongTensor([len(row) for row in rows])
        scores = self.head(rows.to("cuda"))
        return self.loss((scores, lengths), wanted.to("cuda"))
