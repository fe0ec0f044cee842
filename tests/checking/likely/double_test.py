import torch
from torch import nn


class Double(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 2)

    def forward(self, tokens):
        return self.score(torch.randn(tokens.shape[0], 4))  # finds: created-without-device


def test_the_trainer_asks_for_scores():
    assert Double()(torch.zeros(3)).shape == (3, 2)
