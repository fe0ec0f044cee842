"""to_empty gives a computed buffer memory without values; the model runs on garbage.

Needs torch and one GPU. ``python reproduce.py failing`` ends in an AssertionError that shows the
wrong frequency, ``python reproduce.py fixed`` initialises the buffer again and prints "fixed: ok".
torch is asked to fill uninitialised memory with NaN, so that what is garbage shows every time.
"""

import sys

import torch
from torch import nn

DIM = 16


class TextRotaryEmbedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("inv_freq", self.compute(), persistent=False)

    @staticmethod
    def compute(device=None):
        return 1.0 / 10000 ** (torch.arange(0, DIM, 2, device=device) / DIM)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary_emb = TextRotaryEmbedding()
        self.proj = nn.Linear(DIM, DIM)


def materialize(model, weights, variant):
    model.to_empty(device="cuda")
    model.load_state_dict(weights)
    if variant == "fixed":
        model.rotary_emb.inv_freq = TextRotaryEmbedding.compute(device="cuda")
    return model


def main(variant):
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    right = Decoder()
    with torch.device("meta"):
        model = Decoder()
    model = materialize(model, right.state_dict(), variant)
    found, expected = model.rotary_emb.inv_freq.cpu(), right.rotary_emb.inv_freq
    assert torch.allclose(found, expected), (
        f"inv_freq has no values after to_empty: {found[6]:.4g} in place of {expected[6]:.4g}"
    )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
