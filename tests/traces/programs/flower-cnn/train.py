"""Trains the flower classifier; the photographs are noise here."""

import torch
from model import FlowerNet
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load_flowers(count=32, num_classes=5):
    photos = torch.rand(count, 3, 64, 64)
    return TensorDataset(photos, torch.randint(num_classes, (count,)))


def train_one_epoch(net, loader, criterion, optimizer):
    net.train()
    for images, labels in loader:
        optimizer.zero_grad()
        logits = net(images)
        loss = criterion(logits, labels)
        loss.backward()
        optimizer.step()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(f"training on {device}")
    net = FlowerNet(num_classes=5).to(device)
    loader = DataLoader(load_flowers(), batch_size=8, shuffle=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(2):
        train_one_epoch(net, loader, nn.CrossEntropyLoss(), optimizer)
        print(f"epoch {epoch} done")


if __name__ == "__main__":
    main()
