"""A fused AdamW gets its moments back on the GPU and its step counter on the cpu.

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
    tokens = torch.randint(12, (4, 5), device="cuda")
    logits = model(tokens[:, :-1])
    nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
    optimizer.step()


def build():
    model = nn.Sequential(nn.Embedding(12, 8), nn.LayerNorm(8), nn.Linear(8, 12)).to("cuda")
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)


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
