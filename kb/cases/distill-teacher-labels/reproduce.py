"""A teacher's training loop moves the images and forgets the labels.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the labels too and prints "fixed: ok".
The data are random and the network is one layer.
"""

import sys
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F

config = SimpleNamespace(device=torch.device("cuda:0"), epochs=1, num_classes=4)


def teacher_train(model, train_loader, variant):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for _ in range(config.epochs):
        for images, labels in train_loader:
            images = images.to(config.device)
            if variant == "fixed":
                labels = labels.to(config.device)
            outputs = model(images)
            optimizer.zero_grad()
            loss = F.cross_entropy(outputs, labels)
            loss.backward()
            optimizer.step()


def main(variant):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(36, config.num_classes)).to(config.device)
    train_loader = [(torch.rand(2, 1, 6, 6), torch.randint(config.num_classes, (2,)))]
    teacher_train(model, train_loader, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
