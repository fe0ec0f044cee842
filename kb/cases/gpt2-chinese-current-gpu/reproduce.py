"""The model goes to the current GPU, and DataParallel wants it on the first one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in DataParallel's error,
``python reproduce.py fixed`` names cuda:0 and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class GPT2LMHeadModel(nn.Module):
    def __init__(self, vocab_size=32, n_embd=8):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.h = nn.Linear(n_embd, n_embd)

    def forward(self, input_ids, labels):
        logits = self.h(self.wte(input_ids)) @ self.wte.weight.T
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def pick_gpu():
    """Another part of the program has made the emptier GPU the current one."""
    torch.cuda.set_device(1)


def main(variant):
    torch.manual_seed(0)
    pick_gpu()
    device = "cuda:0" if variant == "fixed" else "cuda"
    model = GPT2LMHeadModel()
    model.train()
    model.to(device)
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    batch = torch.randint(32, (4, 6)).to(device)
    loss = model(input_ids=batch, labels=batch).mean()
    loss.backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
