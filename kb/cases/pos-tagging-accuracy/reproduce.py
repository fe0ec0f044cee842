"""The accuracy of a batch divides a count on the GPU by a FloatTensor made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the divisor and prints "fixed: ok".
Training itself works; what fails is the number that is printed beside the loss. A tensor of shape
(1,) is not a number for torch, which would have accepted one from the cpu.
"""

import sys

import torch
from torch import nn

PADDING = 0


def accuracy(scores, tags, variant):
    real = tags != PADDING
    right = (scores.argmax(-1)[real] == tags[real]).sum()
    of = torch.FloatTensor([int(real.sum())])
    if variant == "fixed":
        of = of.to(tags.device)
    return right / of


def train_epoch(tagger, batches, optimizer, variant):
    criterion = nn.CrossEntropyLoss(ignore_index=PADDING)
    for words, tags in batches:
        scores = tagger(words)
        loss = criterion(scores.flatten(0, 1), tags.flatten())
        print("accuracy", accuracy(scores, tags, variant).item(), file=sys.stderr)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    tagger = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 4)).to(device)
    words, tags = torch.tensor([[1, 5, 0], [7, 2, 3]]), torch.tensor([[2, 3, 0], [1, 1, 2]])
    optimizer = torch.optim.Adam(tagger.parameters())
    train_epoch(tagger, [(words.to(device), tags.to(device))], optimizer, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
