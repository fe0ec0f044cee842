"""A whole training program that dies on a GPU, with the hook and without."""

from __future__ import annotations

from pathlib import Path

import forked
import pytest
from hooks.children import SIGN, answer_after, both

pytest.importorskip("torch")

#: A GPT with the structure of a textbook's fine-tuning chapter: moved first, given its head later.
PROGRAM = """\
import torch
from torch import nn

class TransformerBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.ff = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.ff(self.norm(x))

class GPTModel(nn.Module):
    def __init__(self, vocabulary=32, width=8):
        super().__init__()
        self.tok_emb = nn.Embedding(vocabulary, width)
        self.trf_blocks = nn.Sequential(TransformerBlock(width), TransformerBlock(width))
        self.final_norm = nn.LayerNorm(width)
        self.out_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, in_idx):
        x = self.final_norm(self.trf_blocks(self.tok_emb(in_idx)))
        logits = self.out_head(x)
        return logits

def calc_loss_batch(inputs, targets, model, device):
    inputs, targets = inputs.to(device), targets.to(device)
    logits = model(inputs)[:, -1, :]
    return nn.functional.cross_entropy(logits, targets)

def main():
    device = torch.device("cuda")
    model = GPTModel()
    model.to(device)
    for param in model.parameters():
        param.requires_grad = False
    model.out_head = nn.Linear(8, 2)
    batch = torch.randint(32, (4, 6)), torch.randint(2, (4,))
    print("training", flush=True)
    calc_loss_batch(*batch, model, device).backward()

main()
"""


def test_the_answer_names_the_layer_the_cause_and_a_fix(tmp_path: Path) -> None:
    plain, hooked = both(
        tmp_path / "train.py",
        PROGRAM,
        "-m",
        "diagnose.simulation",
        "--gpus",
        "1",
        by=forked.python(),
    )
    assert plain.status == 1
    assert plain.out == "training\n"
    assert "logits = self.out_head(x)" in plain.err
    answer = answer_after(plain, hooked)
    assert SIGN in answer
    flat = " ".join(answer.split())
    assert "logits = self.out_head(x) self.out_head: cpu x: cuda:0" in flat
    assert (
        "- model.out_head = nn.Linear(8, 2) + model.out_head = nn.Linear(8, 2).to(device)" in flat
    )
    assert "Because A layer was added after the model had been moved (99%)" in flat
    assert "The layer is put into the model at train.py:" in flat
    assert "diagnose explain submodule-added-after-move" in flat
