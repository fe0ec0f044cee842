"""Tokens are decoded from hidden states that got lost between two cards.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in an AssertionError that compares
the tokens with those of one card, ``python reproduce.py fixed`` tests a copy at the start, goes
through the cpu and prints "fixed: ok". The fault is played: ``Link`` delivers zeros.
"""

import sys

import torch
from torch import nn


class Link:
    """A pair of cards whose direct copies arrive empty."""

    def copy(self, tensor, device):
        return torch.zeros_like(tensor, device=device)


class ExLlamaModel:
    def __init__(self, link, check_peer_copies):
        self.link = link
        self.embed = nn.Embedding(32, 16).to("cuda:0")
        self.head = nn.Linear(16, 32).to("cuda:1")
        self.through_cpu = check_peer_copies and not self.peer_copies_work()

    def peer_copies_work(self):
        pattern = torch.arange(1.0, 65.0, device="cuda:0")
        return torch.equal(self.link.copy(pattern, "cuda:1").cpu(), pattern.cpu())

    def move(self, hidden, device):
        return hidden.cpu().to(device) if self.through_cpu else self.link.copy(hidden, device)

    @torch.no_grad()
    def forward(self, tokens):
        hidden = self.embed(tokens)
        return self.head(self.move(hidden, "cuda:1")).argmax(-1).tolist()

    @torch.no_grad()
    def forward_one_card(self, tokens):
        return self.head.cpu()(self.embed.cpu()(tokens.cpu())).argmax(-1).tolist()


def main(variant):
    torch.manual_seed(0)
    model = ExLlamaModel(Link(), check_peer_copies=variant == "fixed")
    tokens = torch.tensor([3, 14, 15, 9], device="cuda:0")
    split, single = model.forward(tokens), model.forward_one_card(tokens)
    assert split == single, f"gibberish without an error: {split} on two cards, {single} on one"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
