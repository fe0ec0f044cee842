"""A fused Adam gets its moments back on the GPU and its step counter on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the counters as well and prints "fixed: ok".
``load_state_dict`` treats a state as torch 2.0 did: every tensor goes to its parameter, except the
step, which ordinary Adam wants on the cpu.
"""

import io
import sys

import torch
from torch import nn


def load_state_dict(optimizer, saved, variant):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for index, state in saved["state"].items():
        p = parameters[index]
        for key, value in state.items():
            if key != "step" or variant == "fixed":
                value = value.to(p.device)
            optimizer.state[p][key] = value


def train_step(model, optimizer):
    optimizer.zero_grad()
    inputs = torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], device="cuda")
    model(inputs).sum().backward()
    optimizer.step()


def build():
    model = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 1)).cuda()
    return model, torch.optim.Adam(model.parameters(), fused=True)


def main(variant):
    torch.manual_seed(0)
    model, optimizer = build()
    train_step(model, optimizer)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)

    checkpoint = torch.load(file, map_location="cpu")
    model, optimizer = build()
    model.load_state_dict(checkpoint["model"])
    load_state_dict(optimizer, checkpoint["optimizer"], variant)
    train_step(model, optimizer)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
