"""A model is built on meta, its file lacks a weight that is never used, and then it is moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the meta tensor's
error, ``python reproduce.py fixed`` fills what is missing with zeros before it is moved and prints
"fixed: ok".
"""

import sys

import torch
from torch import nn


class Gemma3TextEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))
        self.embed_tokens = nn.Embedding(20, 8)  # prompts come in as vectors

    def forward(self, embeds):
        return self.model(embeds)


def load_checkpoint():
    complete = Gemma3TextEncoder().state_dict()
    return {key: value for key, value in complete.items() if not key.startswith("embed_tokens")}


class ModelPatcher:
    def __init__(self, model, load_device, offload_device, variant):
        self.model, self.variant = model, variant
        self.load_device, self.offload_device = load_device, offload_device

    def _materialize_missing(self):
        for module in self.model.modules():
            for name, parameter in list(module.named_parameters(recurse=False)):
                if parameter.is_meta:
                    zeros = torch.zeros_like(parameter, device=self.offload_device)
                    setattr(module, name, nn.Parameter(zeros, requires_grad=False))

    def detach(self):
        if self.variant == "fixed":
            self._materialize_missing()
        self.model.to(self.offload_device)

    def partially_load(self):
        self.detach()
        self.model.to(self.load_device)


def main(variant):
    with torch.device("meta"):
        model = Gemma3TextEncoder()
    missing, _ = model.load_state_dict(load_checkpoint(), strict=False, assign=True)
    assert missing == ["embed_tokens.weight"]
    patcher = ModelPatcher(model, "cuda:0", "cpu", variant)
    patcher.partially_load()
    with torch.no_grad():
        model(torch.randn(1, 3, 8, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
