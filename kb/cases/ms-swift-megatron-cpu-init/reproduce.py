"""A model that was initialized on the cpu is wrapped for training without having been moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves it first and prints "fixed: ok". ``MixedPrecision`` keeps copies
of the trained parameters on the GPU, as Megatron's wrappers do, and of no others.
"""

import sys

import torch
from torch import nn


class GPTModel(nn.Module):
    def __init__(self, vocab_size=16, width=8, rank=2):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, width)
        self.linear = nn.Linear(width, width)
        self.lora_A = nn.Linear(width, rank, bias=False)
        self.lora_B = nn.Linear(rank, width, bias=False)
        for module in (self.word_embeddings, self.linear):
            module.requires_grad_(False)

    def forward(self, input_ids):
        hidden = self.word_embeddings(input_ids)
        return self.linear(hidden) + self.lora_B(self.lora_A(hidden))


class MixedPrecision(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.to("cuda")

    def forward(self, *args):
        return self.module(*args)


def wrap_model(model, use_cpu_initialization, variant):
    if not use_cpu_initialization or variant == "fixed":
        model.to("cuda")
    return MixedPrecision(model)


def main(variant):
    torch.manual_seed(0)
    model = wrap_model(GPTModel(), use_cpu_initialization=True, variant=variant)
    tokens = torch.randint(16, (2, 6)).to("cuda")
    model(tokens).square().mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
