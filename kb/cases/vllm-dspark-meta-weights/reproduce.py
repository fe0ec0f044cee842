"""Weights that a partial sync did not bring are still on meta when layers' weights are joined.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` waits until every layer has real weights and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv_proj = nn.Linear(width, 3 * width, bias=False)
        self.k_norm = nn.LayerNorm(width, bias=False)


class DSparkDraft(nn.Module):
    def __init__(self, width=8, layers=3):
        super().__init__()
        with torch.device("meta"):
            self.layers = nn.ModuleList(Attention(width) for _ in range(layers))
        self.fused_kv = None

    def load_weights(self, weights, variant):
        for name, value in weights.items():
            owner, _, leaf = name.rpartition(".")
            setattr(self.get_submodule(owner), leaf, nn.Parameter(value.to("cuda:0")))
        missing = [name for name, p in self.named_parameters() if p.is_meta]
        if variant == "failing" or not missing:
            self._build_context_kv_buffers()
        else:
            print("not fused yet, without data:", ", ".join(missing))

    def _build_context_kv_buffers(self):
        key_value = [layer.qkv_proj.weight[8:] for layer in self.layers]
        self.fused_kv = torch.cat(key_value)


def main(variant):
    torch.manual_seed(0)
    source = nn.ModuleList(Attention(8) for _ in range(3)).state_dict()
    names = [f"layers.{name}" for name in source]
    weights = dict(zip(names, source.values(), strict=True))
    draft = DSparkDraft()
    # The trainer sends what it has changed; the last layer comes with the next sync.
    first = {name: value for name, value in weights.items() if not name.startswith("layers.2")}
    draft.load_weights(first, variant)
    draft.load_weights(weights, variant)
    assert draft.fused_kv.shape == (48, 8)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
