"""A model whose layers are Triton kernels is loaded and called on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the launcher's error,
``python reproduce.py fixed`` has model and ids on the GPU and prints "fixed: ok". ``bitmat`` unpacks
and multiplies in torch, after the launcher's check of its pointers.
"""

import sys

import torch
from torch import nn


def bitmat(x, packed, output):
    for position, tensor in enumerate((output, packed, x)):
        if not tensor.is_cuda:
            raise ValueError(
                f"Pointer argument (at {2 - position}) cannot be accessed from Triton (cpu tensor?)"
            )
    shifts = torch.tensor([0, 2, 4, 6], device=packed.device)
    ternary = ((packed[..., None] >> shifts) & 3).flatten(-2).to(x.dtype) - 1
    return output.copy_(x @ ternary.T)


class BitLinear(nn.Module):
    """Weights are -1, 0 or 1; four of them are packed into a byte."""

    def __init__(self, in_features, out_features):
        super().__init__()
        ternary = torch.randint(3, (out_features, in_features // 4, 4))
        packed = (ternary << torch.tensor([0, 2, 4, 6])).sum(-1).to(torch.uint8)
        self.register_buffer("packed", packed)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        output = x.new_empty(*x.shape[:-1], len(self.packed))
        return bitmat(x, self.packed, output) * self.scale


class Auto158ModelForCausalLM(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.mlp = BitLinear(width, width)
        self.lm_head = BitLinear(width, vocab_size)

    @torch.no_grad()
    def generate(self, input_ids, max_length):
        while input_ids.shape[1] < max_length:
            logits = self.lm_head(self.mlp(self.embed_tokens(input_ids)))
            input_ids = torch.cat([input_ids, logits[:, -1:].argmax(-1)], dim=1)
        return input_ids


def main(variant):
    torch.manual_seed(0)
    model, input_ids = Auto158ModelForCausalLM(), torch.randint(32, (1, 5))
    if variant == "fixed":
        model, input_ids = model.cuda(), input_ids.cuda()
    print(model.generate(input_ids, max_length=8).tolist())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
