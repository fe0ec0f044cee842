"""A model whose norms are Triton kernels is loaded and called on the cpu.

Needs torch, Triton (simulated GPUs bring what is needed of it) and one GPU. ``python reproduce.py failing``
ends in the launcher's error, ``python reproduce.py fixed`` has model and ids on the GPU and prints
"fixed: ok". The norm makes its result on the GPU wherever its input is, so the input is the first pointer
out of reach.
"""

import sys

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def rms_norm_forward(
    y_ptr, y_stride, x_ptr, x_stride, weight_ptr, n_cols, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n_cols
    x = tl.load(x_ptr + row * x_stride + columns, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + columns, mask=inside, other=0.0)
    mean_square = tl.sum(x * x, axis=0) / n_cols
    tl.store(
        y_ptr + row * y_stride + columns, x * tl.rsqrt(mean_square + eps) * weight, mask=inside
    )


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, hidden_states):
        x = hidden_states.reshape(-1, hidden_states.shape[-1])
        y = torch.empty(x.shape, device="cuda")
        block = triton.next_power_of_2(x.shape[1])
        rms_norm_forward[(len(x),)](
            y, y.stride(0), x, x.stride(0), self.weight, x.shape[1], self.eps, BLOCK=block
        )
        return y.view_as(hidden_states)


class Auto158ModelForCausalLM(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.input_layernorm = RMSNorm(width)
        self.lm_head = nn.Linear(width, vocab_size)

    @torch.no_grad()
    def generate(self, input_ids, max_length):
        while input_ids.shape[1] < max_length:
            logits = self.lm_head(self.input_layernorm(self.embed_tokens(input_ids)))
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
