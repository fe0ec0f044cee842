"""Recorded arguments of a layer are moved to the GPU if they are tensors; a list of them is not.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` looks into lists as well and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.utils._pytree import tree_map_only


class QWenBlock(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.c_attn = nn.Linear(width, width)
        self.mlp = nn.Linear(width, width)

    def forward(self, hidden_states, rotary_pos_emb_list=None, attention_mask=None):
        cos, sin = rotary_pos_emb_list
        query = self.c_attn(hidden_states)
        query = query * cos + query.roll(1, -1) * sin
        return hidden_states + self.mlp(query * attention_mask[..., None])


class BaseGPTQ:
    data_device = "cuda:0"

    def __init__(self, layers, variant):
        self.layers, self.variant = layers, variant

    def move(self, value):
        if self.variant == "fixed":
            return tree_map_only(torch.Tensor, lambda t: t.to(self.data_device), value)
        return value.to(self.data_device) if torch.is_tensor(value) else value

    @torch.no_grad()
    def quantize(self, layer_inputs, layer_kwargs):
        for number, layer in enumerate(self.layers):
            layer.to(self.data_device)
            kwargs = {name: self.move(value) for name, value in layer_kwargs.items()}
            layer_inputs = [layer(self.move(x), **kwargs).cpu() for x in layer_inputs]
            self.layers[number] = layer.cpu()


def main(variant):
    torch.manual_seed(0)
    angles = torch.arange(6)[:, None] / 10 ** (torch.arange(8) / 8)
    recorded = {
        "rotary_pos_emb_list": [angles.cos(), angles.sin()],
        "attention_mask": torch.ones(1, 6),
    }
    BaseGPTQ([QWenBlock(), QWenBlock()], variant).quantize([torch.randn(1, 6, 8)], recorded)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
