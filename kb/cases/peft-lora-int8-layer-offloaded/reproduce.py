"""The base layer's hook computes on the cpu, the LoRA layer around it on the GPU, and both are added.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has the base layer on the GPU and prints "fixed: ok". ``Int8Linear``
has the packed weight of bitsandbytes' layer, not its kernel.
"""

import sys

import torch
from accelerate.hooks import AlignDevicesHook, add_hook_to_module
from torch import nn
from torch.nn.functional import linear


class Int8Linear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        weight = torch.randn(out_features, in_features)
        scale = weight.abs().amax(1, keepdim=True) / 127
        self.register_buffer("CB", torch.round(weight / scale).to(torch.int8))
        self.register_buffer("SCB", scale)

    def forward(self, x):
        return linear(x, self.CB * self.SCB)


class LoraLinear8bitLt(nn.Module):
    def __init__(self, base_layer, r=2):
        super().__init__()
        out_features, in_features = base_layer.CB.shape
        self.base_layer = base_layer
        self.lora_A = nn.Linear(in_features, r, bias=False)
        self.lora_B = nn.Linear(r, out_features, bias=False)

    def forward(self, x):
        result = self.base_layer(x)
        output = self.lora_B(self.lora_A(x))
        return result + output


def dispatch(layer, base_layer_on):
    """accelerate's part: each piece computes where the map says, the adapter is on the GPU."""
    layer.to("cuda:0")
    layer.base_layer.to(base_layer_on)
    add_hook_to_module(layer.base_layer, AlignDevicesHook(execution_device=base_layer_on))
    return layer


def main(variant):
    torch.manual_seed(0)
    place = "cpu" if variant == "failing" else "cuda:0"
    layer = dispatch(LoraLinear8bitLt(Int8Linear(8, 8)), place)
    layer(torch.randn(2, 5, 8, device="cuda:0")).square().mean().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
