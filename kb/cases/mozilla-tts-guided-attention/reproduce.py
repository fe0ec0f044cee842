"""torch.arange of a length that is on the GPU gives a range on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` passes the length's device and prints "fixed: ok".
Attention between text and speech is kept near the diagonal by a mask. A length taken from a tensor
of lengths is a tensor itself; arange only reads its value.
"""

import sys

import torch
from torch import nn


class DiagonalAttentionLoss(nn.Module):
    def __init__(self, variant, width=0.4):
        super().__init__()
        self.variant = variant
        self.width = width

    def positions(self, length):
        """0 at the first step of a sequence, nearly 1 at its last."""
        if self.variant == "failing":
            steps = torch.arange(length)
        else:
            steps = torch.arange(length, device=length.device)
        return steps / length

    def mask(self, text_length, speech_length):
        distance = self.positions(speech_length)[:, None] - self.positions(text_length)
        return 1 - (-0.5 * (distance / self.width).square()).exp()

    def forward(self, attention, text_lengths, speech_lengths):
        losses = [
            (self.mask(text, speech) * weights[:speech, :text]).mean()
            for weights, text, speech in zip(attention, text_lengths, speech_lengths, strict=True)
        ]
        return torch.stack(losses).mean()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    attention = torch.rand(2, 7, 5, device=device)
    text_lengths = torch.tensor([5, 4], device=device)
    speech_lengths = torch.tensor([7, 6], device=device)
    DiagonalAttentionLoss(variant)(attention, text_lengths, speech_lengths)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
