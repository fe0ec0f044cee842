"""A model is split over two GPUs by hand; a kernel of its second part is launched on the first GPU.

Needs torch, accelerate, Triton (simulated GPUs bring what is needed of it) and two GPUs.
``python reproduce.py failing`` ends in the launcher's error, ``python reproduce.py fixed`` makes the data's
GPU the current one and prints "fixed: ok". accelerate's hooks bring inputs to a layer's GPU, but leave the
current GPU as it was.
"""

import sys
from contextlib import nullcontext

import torch
import triton
import triton.language as tl
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"embed_tokens": 0, "layers.0": 0, "layers.1": 1, "lm_head": 1}


@triton.jit
def low_and_high(data_ptr, low_ptr, high_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    at = data_ptr + row * width + columns
    tl.store(low_ptr + row, tl.min(tl.load(at, mask=inside, other=float("inf")), axis=0))
    tl.store(high_ptr + row, tl.max(tl.load(at, mask=inside, other=float("-inf")), axis=0))


def quantize_last_dim(data, variant):
    low, high = torch.empty_like(data[..., :1]), torch.empty_like(data[..., :1])
    width = data.shape[-1]
    with torch.cuda.device(data.device) if variant == "fixed" else nullcontext():
        low_and_high[(data.numel() // width,)](
            data, low, high, width, BLOCK=triton.next_power_of_2(width)
        )
    return ((data - low) / (high - low) * 3).round()


class DecoderLayer(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.variant = variant
        self.k_proj = nn.Linear(8, 8)

    def forward(self, hidden_states):
        return hidden_states + quantize_last_dim(self.k_proj(hidden_states), self.variant)


class CausalLM(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.embed_tokens = nn.Embedding(16, 8)
        self.layers = nn.ModuleList([DecoderLayer(variant), DecoderLayer(variant)])
        self.lm_head = nn.Linear(8, 16)

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return self.lm_head(hidden_states)


def main(variant):
    model = dispatch_model(CausalLM(variant), device_map=DEVICE_MAP)
    with torch.no_grad():
        model(torch.randint(16, (1, 6)).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
