"""A tied embedding is rebuilt after the model was dispatched, and the new module has no hook.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` gives it a hook for its GPU again and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from accelerate.hooks import AlignDevicesHook, add_hook_to_module
from torch import nn

# The planner keeps the tied pair together, on the second card.
DEVICE_MAP = {"embed_tokens": 1, "layers": 0, "norm": 1, "lm_head": 1}


class TiedLM(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.GELU())
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab_size, bias=False)
        self.lm_head.weight = self.embed_tokens.weight

    def forward(self, input_ids):
        return self.lm_head(self.norm(self.layers(self.embed_tokens(input_ids))))


def patch_model_and_tokenizer(model):
    """Pads the vocabulary with one more token and ties the pair again."""
    old = model.embed_tokens.weight.data
    weight = torch.cat([old, old.mean(0, keepdim=True)])
    new = nn.Embedding(*weight.shape, _weight=weight)
    model.embed_tokens = new
    model.lm_head.weight = new.weight


def repair_tied_module_hooks(model):
    for name in ("embed_tokens", "lm_head"):
        module = model.get_submodule(name)
        if not hasattr(module, "_hf_hook"):
            hook = AlignDevicesHook(execution_device=module.weight.device)
            add_hook_to_module(module, hook)
            print("hook put back on", name)


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(TiedLM(), device_map=DEVICE_MAP)
    patch_model_and_tokenizer(model)
    if variant == "fixed":
        repair_tied_module_hooks(model)
    model(torch.randint(17, (2, 5)).to("cuda:0")).square().mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
