"""Lengths that torchtext put on the GPU are handed to pack_padded_sequence.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about lengths,
``python reproduce.py fixed`` passes them on the cpu and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class RNN(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, variant):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.rnn = nn.LSTM(embedding_dim, hidden_dim, bidirectional=True)
        self.fc = nn.Linear(2 * hidden_dim, 1)
        self.variant = variant

    def forward(self, text, text_lengths):
        embedded = self.embedding(text)
        if self.variant == "fixed":
            text_lengths = text_lengths.cpu()
        packed_embedded = nn.utils.rnn.pack_padded_sequence(embedded, text_lengths)
        _, (hidden, _) = self.rnn(packed_embedded)
        return self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1))


def bucket_iterator(device):
    """One batch as BucketIterator(include_lengths=True, device=device) yields it."""
    text_lengths = torch.tensor([5, 3, 2])
    text = torch.randint(1, 20, (5, 3))
    for column, length in enumerate(text_lengths):
        text[length:, column] = 0
    yield (text.to(device), text_lengths.to(device)), torch.ones(3, device=device)


def main(variant):
    torch.manual_seed(1234)
    device = torch.device("cuda")
    model = RNN(20, 8, 8, variant).to(device)
    for (text, text_lengths), label in bucket_iterator(device):
        predictions = model(text, text_lengths).squeeze(1)
        nn.functional.binary_cross_entropy_with_logits(predictions, label).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
