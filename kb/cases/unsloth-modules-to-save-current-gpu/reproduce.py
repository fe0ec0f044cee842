"""A trainable copy is sent to "cuda", which is the current GPU and not the one it is on.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps the copy's own GPU and prints "fixed: ok". The copy is made as
PEFT's ModulesToSaveWrapper makes it, beside the module that it replaces.
"""

import copy
import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"embed_tokens": 0, "layers": 0, "norm": 1, "lm_head": 1}


class ModulesToSaveWrapper(nn.Module):
    def __init__(self, original_module):
        super().__init__()
        self.original_module = original_module.requires_grad_(False)
        trained = nn.Linear(original_module.in_features, original_module.out_features)
        trained.load_state_dict(copy.deepcopy(original_module.state_dict()))
        self.modules_to_save = nn.ModuleDict({"default": trained})
        self.modules_to_save.to(original_module.weight.device)

    def forward(self, x):
        return self.modules_to_save["default"](x.float())


class LlamaForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.norm(self.layers(self.embed_tokens(input_ids))))


def train_in_float32(module, variant, device_type="cuda"):
    trained = module.modules_to_save["default"]
    target_device = device_type
    if variant == "fixed" and trained.weight.device.type == device_type:
        target_device = trained.weight.device
    trained.to(device=target_device, dtype=torch.float32)


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(LlamaForCausalLM(), device_map=DEVICE_MAP)
    model.lm_head = ModulesToSaveWrapper(model.lm_head)
    train_in_float32(model.lm_head, variant)
    model(torch.randint(16, (2, 5)).to("cuda:0")).square().mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
