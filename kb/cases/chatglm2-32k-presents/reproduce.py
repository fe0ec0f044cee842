"""Key-value caches of layers on different GPUs are concatenated into one tensor.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings each cache to the first one's GPU and prints "fixed: ok".
The encoder is reduced to what the failing line needs: layers that return their keys and values.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"layers.0": 0, "layers.1": 0, "layers.2": 1}


class GLMBlock(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)

    def forward(self, hidden_states):
        query, key, value = self.query_key_value(hidden_states).chunk(3, dim=-1)
        attended = torch.softmax(query @ key.mT, dim=-1) @ value
        return hidden_states + attended, torch.stack((key, value))


class GLMTransformer(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.layers = nn.ModuleList(GLMBlock(hidden_size) for _ in range(3))

    def forward(self, hidden_states, move_cache):
        presents = None
        for layer in self.layers:
            # accelerate brings the hidden states to the layer; what the layer returns stays there.
            hidden_states, kv_cache = layer(hidden_states)
            kv_cache = kv_cache.unsqueeze(0)
            if presents is None:
                presents = kv_cache
                continue
            if move_cache:
                kv_cache = kv_cache.to(presents.device)
            presents = torch.cat((presents, kv_cache), dim=0)
        return hidden_states, presents


def main(variant):
    torch.manual_seed(0)
    encoder = dispatch_model(GLMTransformer(8), device_map=DEVICE_MAP)
    embeddings = torch.randn(1, 5, 8, device="cuda:0")
    _, presents = encoder(embeddings, move_cache=variant == "fixed")
    print("presents", tuple(presents.shape), "on", presents.device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
