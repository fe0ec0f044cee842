"""Trains an arrhythmia model in two sessions; the second one goes on from a checkpoint."""

import torch
from torch import nn

CHECKPOINT = "arrhythmia.pt"


def new_model():
    return nn.Sequential(
        nn.Conv1d(1, 8, 7), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 5)
    )


def run(model, optimizer, steps, device):
    for _ in range(steps):
        leads = torch.randn(4, 1, 250, device=device)
        beats = torch.randint(5, (4,), device=device)
        loss = nn.functional.cross_entropy(model(leads), beats)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def first_session(device):
    model = new_model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    run(model, optimizer, 2, device)
    torch.save({"model": model.state_dict(), "optim": optimizer.state_dict()}, CHECKPOINT)


def second_session(device):
    model = new_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    checkpoint = torch.load(CHECKPOINT, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optim"])
    print("resumed from", CHECKPOINT)
    model.to(device)
    run(model, optimizer, 2, device)


if __name__ == "__main__":
    first_session("cuda")
    second_session("cuda")
