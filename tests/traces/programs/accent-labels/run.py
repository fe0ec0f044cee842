"""python run.py --device cuda:1: recognises accents."""

import argparse

import torch
from torch import nn


class AccentNet(nn.Module):
    def __init__(self, mels=40, accents=7):
        super().__init__()
        self.rnn = nn.GRU(mels, 24, batch_first=True)
        self.out = nn.Linear(24, accents)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.out(states.mean(dim=1))


def train(model, loader, device):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.RMSprop(model.parameters())
    for mels, accent in loader:
        output = model(mels.to(device))
        loss = criterion(output, accent.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda:0")
    args = parser.parse_args()
    loader = [(torch.randn(4, 30, 40), torch.randint(7, (4,))) for _ in range(2)]
    train(AccentNet().to(args.device), loader, args.device)
