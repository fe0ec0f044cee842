"""The accuracy of a batch divides a count on the GPU by a FloatTensor made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the divisor and prints "fixed: ok".
Training itself works; what fails is the number that is printed beside the loss. A tensor of shape
(1,) is not a number for torch, which would have accepted one from the cpu.
"""

import sys

import torch
from torch import nn


def categorical_accuracy(preds, y, tag_pad_idx, variant):
    max_preds = preds.argmax(dim=1, keepdim=True)
    non_pad_elements = (y != tag_pad_idx).nonzero()
    correct = max_preds[non_pad_elements].squeeze(1).eq(y[non_pad_elements])
    count = torch.FloatTensor([y[non_pad_elements].shape[0]])
    if variant == "fixed":
        count = count.to(y.device)
    return correct.sum() / count


def train(model, iterator, optimizer, criterion, tag_pad_idx, variant):
    for text, tags in iterator:
        optimizer.zero_grad()
        predictions = model(text).view(-1, 4)
        tags = tags.view(-1)
        loss = criterion(predictions, tags)
        categorical_accuracy(predictions, tags, tag_pad_idx, variant)
        loss.backward()
        optimizer.step()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 4)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss(ignore_index=0).to(device)
    text, tags = torch.tensor([[1, 5, 0]]), torch.tensor([[2, 3, 0]])
    iterator = [(text.to(device), tags.to(device))]
    train(model, iterator, optimizer, criterion, 0, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
