"""A BiLSTM that makes its own zero state makes it on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the state on the embedding's device and prints "fixed: ok".
nn.LSTM makes the state itself, and on the right device, if none is passed.
"""

import sys

import torch
from torch import nn


class BiLSTM(nn.Module):
    def __init__(self, embed_dim, lstm_dim, variant):
        super().__init__()
        self.variant = variant
        self.lstm_dim = lstm_dim
        self.rnn = nn.LSTM(embed_dim, lstm_dim, bidirectional=True, batch_first=True)

    def zero_state(self, embedded_tokens):
        where = {} if self.variant == "failing" else {"device": embedded_tokens.device}
        zeros = torch.zeros(2, embedded_tokens.shape[0], self.lstm_dim, **where)
        return zeros, zeros.clone()

    def forward(self, embedded_tokens, states=None):
        if states is None:
            states = self.zero_state(embedded_tokens)
        return self.rnn(embedded_tokens, states)


class DocModel(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.embedding = nn.Embedding(16, 5)
        self.representation = BiLSTM(5, 4, variant)

    def forward(self, tokens):
        rep, _ = self.representation(self.embedding(tokens))
        return rep.amax(dim=1)


def main(variant):
    torch.manual_seed(0)
    model = DocModel(variant).cuda()
    model(torch.tensor([[1, 2, 3]], device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
