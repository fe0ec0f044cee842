"""A worker is started with local rank 0 although the model was asked for on another card.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the rank from the device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class OPTAttention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.qkv_proj = nn.Linear(width, 3 * width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, hidden, attn_bias):
        q, k, v = self.qkv_proj(hidden).chunk(3, dim=-1)
        return self.out_proj(scaled_dot_product_attention(q, k, v, attn_mask=attn_bias))


class Worker:
    def __init__(self, device, local_rank):
        self.device, self.local_rank = device, local_rank

    def init_device(self):
        torch.cuda.set_device(self.local_rank)

    def load_model(self):
        self.embed = nn.Embedding(16, 8).to(self.device)
        self.attention = OPTAttention().to(self.device)

    def execute_model(self, seq_lens):
        total = sum(seq_lens)
        tokens = torch.arange(total).to(self.device) % 16
        owner = torch.repeat_interleave(torch.arange(len(seq_lens)), torch.tensor(seq_lens))
        attn_bias = torch.zeros(total, total, device="cuda")  # the worker's own card
        attn_bias.masked_fill_((owner[:, None] != owner).to("cuda"), float("-inf"))
        return self.attention(self.embed(tokens)[None], attn_bias[None])


class UniProcExecutor:
    def __init__(self, device, variant):
        index = torch.device(device).index
        local_rank = index if variant == "fixed" and index is not None else 0
        self.driver_worker = Worker(device, local_rank)
        self.driver_worker.init_device()
        self.driver_worker.load_model()


def main(variant):
    torch.manual_seed(0)
    executor = UniProcExecutor("cuda:1", variant)
    with torch.no_grad():
        executor.driver_worker.execute_model([3, 4])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
