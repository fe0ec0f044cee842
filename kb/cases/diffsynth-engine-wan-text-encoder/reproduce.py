"""A text encoder makes positions on the device of a layer whose weights are parked on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them where the hidden states are and prints "fixed: ok".
``enable_sequential_cpu_offload`` lets each leaf's weights visit the GPU for its own call.
"""

import sys

import torch
from torch import nn


def enable_sequential_cpu_offload(model, device):
    for module in model.modules():
        if not list(module.children()):
            module.register_forward_pre_hook(lambda m, args: m.to(device) and None)
            module.register_forward_hook(lambda m, args, out: m.to("cpu") and None)


class T5RelativeEmbedding(nn.Module):
    def __init__(self, num_buckets, num_heads, variant):
        super().__init__()
        self.embedding = nn.Embedding(num_buckets, num_heads)
        self.num_buckets, self.variant = num_buckets, variant

    def forward(self, x):
        device = x.device if self.variant == "fixed" else self.embedding.weight.device
        positions = torch.arange(x.shape[1], device=device)
        distance = (positions[None] - positions[:, None]).abs().clamp(max=self.num_buckets - 1)
        return self.embedding(distance).permute(2, 0, 1)[None]


class WanTextEncoder(nn.Module):
    def __init__(self, variant, dim=8, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.token_embedding = nn.Embedding(40, dim)
        self.pos_embedding = T5RelativeEmbedding(8, num_heads, variant)
        self.qkv, self.o = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, ids):
        x = self.token_embedding(ids)
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT + self.pos_embedding(x)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def main(variant):
    text_encoder = WanTextEncoder(variant).eval()
    enable_sequential_cpu_offload(text_encoder, "cuda:0")
    with torch.no_grad():
        prompt_emb = text_encoder(torch.randint(40, (1, 6), device="cuda:0"))
    assert prompt_emb.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
