"""An early accelerate refuses to train adapters on an 8-bit model that lies on several GPUs.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks as later releases do, whether more than one process is at work,
and prints "fixed: ok". ``prepare_model`` raises accelerate's sentence; the 8-bit layers are plain
ones here, for their arithmetic plays no part.
"""

import sys

import torch
from torch import nn

DEVICE_MAP = {"embed_tokens": "cuda:0", "lm_head": "cuda:1"}


class LoraModel(nn.Module):
    is_loaded_in_8bit = True
    hf_device_map = DEVICE_MAP

    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size).to(DEVICE_MAP["embed_tokens"])
        self.lm_head = nn.Linear(hidden_size, vocab_size).to(DEVICE_MAP["lm_head"])
        self.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(hidden_size, 2, device=DEVICE_MAP["lm_head"]))
        self.lora_B = nn.Parameter(torch.zeros(2, vocab_size, device=DEVICE_MAP["lm_head"]))

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids).to(self.lora_A.device)
        return (self.lm_head(hidden_states) + hidden_states @ self.lora_A @ self.lora_B).mean()


def prepare_model(model, num_processes, naive_parallelism_allowed):
    spread = len(set(model.hf_device_map.values())) > 1
    refused = not naive_parallelism_allowed or num_processes > 1
    if model.is_loaded_in_8bit and spread and refused:
        raise ValueError(
            "You can't train a model that has been loaded in 8-bit precision on multiple devices."
        )
    return model


def main(variant):
    torch.manual_seed(0)
    model = prepare_model(LoraModel(), 1, naive_parallelism_allowed=variant == "fixed")
    model(torch.randint(16, (2, 5)).to("cuda:0")).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
