"""A device map cuts a module in two: its parameter is on one GPU, its layers are on the next.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` keeps the module whole and prints "fixed: ok". accelerate's hooks bring
the inputs of each layer's forward to that layer, but not the parameters that are added to outputs.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

SPLIT = {
    "conv1": 0,
    "attn_pool.query": 0,
    "attn_pool.pos_embed": 0,
    "attn_pool.ln_q": 1,
    "attn_pool.ln_kv": 1,
    "attn_pool.attn": 1,
}
WHOLE = {"conv1": 0, "attn_pool": 1}


class Resampler(nn.Module):
    def __init__(self, embed_dim=8, queries=4):
        super().__init__()
        self.query = nn.Parameter(torch.randn(queries, embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(queries, embed_dim))
        self.ln_q = nn.LayerNorm(embed_dim)
        self.ln_kv = nn.LayerNorm(embed_dim)
        self.attn = nn.MultiheadAttention(embed_dim, 2, batch_first=True)

    def _repeat(self, query, n):
        return query.unsqueeze(0).expand(n, -1, -1)

    def forward(self, x):
        x = self.ln_kv(x)
        q = self.ln_q(self.query)
        return self.attn(self._repeat(q, len(x)) + self.pos_embed.unsqueeze(0), x, x)[0]


class VisionTransformer(nn.Module):
    def __init__(self, embed_dim=8):
        super().__init__()
        self.conv1 = nn.Conv2d(3, embed_dim, kernel_size=2, stride=2)
        self.attn_pool = Resampler(embed_dim)

    def forward(self, image):
        return self.attn_pool(self.conv1(image).flatten(2).mT)


def load(device_map):
    model = VisionTransformer().eval()
    # A checkpoint is read parameter by parameter, each to the GPU that the map names for it.
    for name, device in device_map.items():
        owner, _, attribute = name.rpartition(".")
        part = getattr(model.get_submodule(owner), attribute)
        if isinstance(part, nn.Parameter):
            part.data = part.data.to(torch.device("cuda", device))
    return dispatch_model(model, device_map=device_map)


def main(variant):
    torch.manual_seed(0)
    model = load(SPLIT if variant == "failing" else WHOLE)
    features = model(torch.randn(2, 3, 8, 8, device="cuda:0"))
    print("features", tuple(features.shape))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
