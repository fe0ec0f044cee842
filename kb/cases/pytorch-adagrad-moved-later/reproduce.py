"""Adagrad's running sums stay on the cpu, because the optimizer was made before the model was moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the optimizer after the move and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import mse_loss


class RatingModel(nn.Module):
    def __init__(self, users, dim=6):
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.score = nn.Linear(dim, 1)

    def forward(self, user):
        return self.score(torch.tanh(self.users(user))).squeeze(-1)


def build(variant, device):
    """Unlike Adam, Adagrad does not wait for the first step: it makes its sums when it is made."""
    model = RatingModel(users=20)
    if variant == "fixed":
        model.to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    return model.to(device), optimizer


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model, optimizer = build(variant, device)
    user, rating = torch.tensor([3, 14, 15]).to(device), torch.tensor([5.0, 1.0, 4.0]).to(device)
    mse_loss(model(user), rating).backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
