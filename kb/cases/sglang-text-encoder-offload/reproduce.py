"""Inputs go to the device of the first parameter, which is where FSDP stores it, not where it computes.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends them to the computing device and prints "fixed: ok".
``offloaded`` does what FSDP's CPU offload does to a wrapped module: parameters are on the GPU
during its forward only, and tensors passed to it are brought there.
"""

import sys

import torch
from torch import nn

COMPUTE = torch.device("cuda:0")


def offloaded(module):
    def gather(module, args):
        for parameter in module.parameters():
            parameter.data = parameter.data.to(COMPUTE)
        return tuple(arg.to(COMPUTE) for arg in args)

    def reshard(module, args, output):
        for parameter in module.parameters():
            parameter.data = parameter.data.to("cpu")

    module.register_forward_pre_hook(gather)
    module.register_forward_hook(reshard)
    return module


class RotaryEmbedding(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        exponents = torch.arange(0, dim, 2) / dim
        self.register_buffer("inv_freq", 1.0 / 10000**exponents, persistent=False)

    def forward(self, position_ids):
        inv_freq = self.inv_freq[None, :, None].expand(len(position_ids), -1, 1)
        freqs = (inv_freq @ position_ids[:, None, :].float()).transpose(1, 2)
        return torch.cat([freqs, freqs], dim=-1).cos()


class TextEncoder(nn.Module):
    def __init__(self, variant, vocab_size=32, width=8):
        super().__init__()
        self.variant = variant
        self.embed_tokens = offloaded(nn.Embedding(vocab_size, width))
        self.layer = offloaded(nn.Linear(width, width))
        self.rotary_emb = RotaryEmbedding(width).to(COMPUTE)

    @property
    def device(self):
        if self.variant == "fixed":
            return COMPUTE
        return next(self.parameters()).device

    def encode_ids(self, input_ids):
        input_ids = input_ids.to(self.device)
        position_ids = torch.arange(input_ids.shape[1])[None].to(self.device)
        hidden = self.embed_tokens(input_ids)
        return self.layer(hidden * self.rotary_emb(position_ids))


def main(variant):
    torch.manual_seed(0)
    with torch.no_grad():
        TextEncoder(variant).encode_ids(torch.randint(32, (1, 6)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
