"""Activations of a model on the second GPU are cached on the first one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in an AssertionError that names both
GPUs, ``python reproduce.py fixed`` caches on the model's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class HookedTransformer(nn.Module):
    def __init__(self, d_vocab, d_model, device, variant):
        super().__init__()
        self.device = torch.device(device)
        self.embed = nn.Embedding(d_vocab, d_model)
        self.mlp = nn.Linear(d_model, d_model)
        self.unembed = nn.Linear(d_model, d_vocab)
        self.variant = variant
        self.to(self.device)

    def forward(self, tokens):
        return self.unembed(torch.relu(self.mlp(self.embed(tokens))))

    def cache_some(self, cache, device="cuda"):
        def save_hook(module, args, output):
            cache["blocks.0.mlp.hook_post"] = output.detach().to(device)

        return self.mlp.register_forward_hook(save_hook)

    def run_with_cache(self, tokens):
        cache = {}
        if self.variant == "fixed":
            handle = self.cache_some(cache, device=self.device)
        else:
            handle = self.cache_some(cache)
        try:
            return self(tokens.to(self.device)), cache
        finally:
            handle.remove()


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    model = HookedTransformer(d_vocab=11, d_model=8, device="cuda:1", variant=variant)
    logits, cache = model.run_with_cache(torch.tensor([[1, 2, 3]]))
    cached = cache["blocks.0.mlp.hook_post"]
    assert cached.device == logits.device, (
        f"the model runs on {logits.device}, its cache is silently on {cached.device}"
    )
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
