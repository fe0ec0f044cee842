"""A preallocated key-value cache lies on the first GPU, whatever GPU the layer that fills it is on.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` allocates each layer's cache on that layer's GPU and prints
"fixed: ok". ``StaticCache`` is as small as it can be and still fail at the same operation.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

LAYER_DEVICES = {0: "cuda:0", 1: "cuda:1"}
DEVICE_MAP = {"layers.0": 0, "layers.1": 1}


class StaticCache:
    """Keys and values of a fixed length for every layer."""

    def __init__(self, layers, max_cache_len, head_dim, device=None, layer_device_map=None):
        self.key_cache, self.value_cache = [], []
        for idx in range(layers):
            place = layer_device_map[idx] if layer_device_map is not None else device
            self.key_cache.append(torch.zeros(1, 1, max_cache_len, head_dim, device=place))
            self.value_cache.append(torch.zeros(1, 1, max_cache_len, head_dim, device=place))

    def update(self, key_states, value_states, layer_idx, cache_position):
        k_out, v_out = self.key_cache[layer_idx], self.value_cache[layer_idx]
        k_out.index_copy_(2, cache_position, key_states)
        v_out.index_copy_(2, cache_position, value_states)
        return k_out, v_out


class LlamaAttention(nn.Module):
    def __init__(self, layer_idx, head_dim):
        super().__init__()
        self.layer_idx = layer_idx
        self.k_proj = nn.Linear(head_dim, head_dim, bias=False)
        self.v_proj = nn.Linear(head_dim, head_dim, bias=False)

    def forward(self, hidden_states, past_key_value, cache_position):
        keys, values = self.k_proj(hidden_states)[:, None], self.v_proj(hidden_states)[:, None]
        keys, values = past_key_value.update(keys, values, self.layer_idx, cache_position)
        return torch.softmax(hidden_states @ keys[:, 0].mT, dim=-1) @ values[:, 0]


class LlamaModel(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.layers = nn.ModuleList(LlamaAttention(idx, head_dim) for idx in LAYER_DEVICES)

    def forward(self, hidden_states, past_key_values):
        cache_position = torch.arange(hidden_states.shape[1], device=hidden_states.device)
        for layer in self.layers:
            # accelerate brings tensors to the layer's GPU; the cache is a plain object and stays.
            hidden_states = layer(hidden_states, past_key_values, cache_position)
        return hidden_states


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(LlamaModel(head_dim=4), device_map=DEVICE_MAP)
    if variant == "failing":
        cache = StaticCache(2, max_cache_len=8, head_dim=4, device="cuda:0")
    else:
        cache = StaticCache(2, max_cache_len=8, head_dim=4, layer_device_map=LAYER_DEVICES)

    model(torch.randn(1, 3, 4, device="cuda:0"), cache)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
