"""An adapter around a layer on the second GPU is moved to the device of the model's first parameter.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` leaves the adapter with its layer and prints "fixed: ok".
As in WISE: the adapter keeps a copy of the edited layer's weight and is fetched by a method that
also moves it.
"""

import copy
import sys

import torch
from torch import nn
from torch.nn import functional as F


class WISEAdapter(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.new_weight = nn.Parameter(copy.deepcopy(layer.weight.detach()))

    def new_weight_forward(self, input):
        return F.linear(input, self.new_weight)

    def forward(self, input):
        layer_out = self.new_weight_forward(input)
        return layer_out


class SplitModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 8).to("cuda:0")
        self.down_proj = nn.Linear(8, 8, bias=False).to("cuda:1")

    @property
    def device(self):
        # As in transformers: where the first parameter is, which says nothing of the others.
        return next(self.parameters()).device

    def forward(self, input_ids):
        return self.down_proj(self.embed(input_ids).to("cuda:1"))


class WISE:
    def __init__(self, model):
        self.model = model
        model.down_proj = WISEAdapter(model.down_proj)

    def get_adapter_layer(self, move):
        adapter_layer = self.model.down_proj
        return adapter_layer.to(self.model.device) if move else adapter_layer

    def edit(self, input_ids, move):
        self.get_adapter_layer(move).new_weight.requires_grad_(True)
        return self.model(input_ids)


def main(variant):
    torch.manual_seed(0)
    editor = WISE(SplitModel())
    input_ids = torch.randint(16, (2, 5)).to("cuda:0")
    output = editor.edit(input_ids, move=variant == "failing")
    output.sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
