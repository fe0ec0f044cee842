"""A script saves delta.cpu().state_dict() in the middle of training and thereby moves delta.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` copies the tensors of the state dict instead and prints "fixed: ok".
"""

import io
import sys

import torch
from torch import nn


class Delta(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.delta = nn.Parameter(torch.zeros(dim))

    def apply(self, embedding, alpha):
        return embedding + alpha * self.delta


def save_checkpoint(delta, variant):
    file = io.BytesIO()
    if variant == "fixed":
        state = {name: tensor.cpu() for name, tensor in delta.state_dict().items()}
    else:
        state = delta.cpu().state_dict()
    torch.save(state, file)
    return file


def train(model, delta, max_steps, variant):
    optimizer = torch.optim.AdamW(delta.parameters(), lr=1e-2)
    for step in range(max_steps):
        embedding = torch.randn(4, 16, device="cuda")
        target = model(embedding)
        loss = (model(delta.apply(embedding, alpha=1.0)) - 2 * target).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if (step + 1) % (max_steps // 10) == 0:
            save_checkpoint(delta, variant)


def main(variant):
    torch.manual_seed(0)
    model = nn.Linear(16, 16).to("cuda").requires_grad_(False)
    delta = Delta(16).to("cuda")
    train(model, delta, max_steps=20, variant=variant)
    assert delta.delta.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
