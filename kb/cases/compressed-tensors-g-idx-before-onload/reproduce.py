"""A layer's index is read while the layer is offloaded, and used after it has been loaded.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` reads it inside of the context and prints "fixed: ok".
"""

import sys

import torch
from accelerate.hooks import AlignDevicesHook, add_hook_to_module
from accelerate.utils import align_module_device
from torch import nn

GROUP = 4


def quantizable_linear(width=8):
    layer = nn.Linear(width, width, bias=False)
    order = torch.randperm(width) // GROUP
    layer.weight_g_idx = nn.Parameter(order, requires_grad=False)
    layer.weight_scale = nn.Parameter(torch.ones(width, width // GROUP), requires_grad=False)
    return layer


def fake_quantize(value, scale, g_idx):
    per_column = scale[:, g_idx]
    return (value / per_column).round().clamp(-8, 7) * per_column


def observe(value, g_idx, scale):
    for group in range(scale.shape[1]):
        columns = value * (g_idx == group)
        scale[:, group] = columns.abs().amax(1) / 7


def calibrate_weight(module, variant):
    g_idx = module.weight_g_idx
    with align_module_device(module):
        if variant == "fixed":
            g_idx = module.weight_g_idx
        observe(module.weight.data, g_idx.data, module.weight_scale.data)
        return fake_quantize(module.weight.data, module.weight_scale.data, g_idx.data)


def main(variant):
    torch.manual_seed(0)
    layer = quantizable_linear()
    add_hook_to_module(layer, AlignDevicesHook(execution_device="cuda:0", offload=True))
    quantized = calibrate_weight(layer, variant)
    assert quantized.shape == (8, 8)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
