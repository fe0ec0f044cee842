"""Offloading moves a quantized layer's weight and bias, and its scale stays on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the scale to the weight and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class LinearW8A8(nn.Module):
    def __init__(self, linear):
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(1, keepdim=True) / 127
        self.weight = nn.Parameter((weight / scale).round().to(torch.int8), requires_grad=False)
        self.bias = nn.Parameter(linear.bias.detach())
        self.register_buffer("scale", scale)


def dequantize(q, scale):
    return q.float() * scale


def get_unquantized_weight(layer, variant):
    scale = layer.scale.to(layer.weight.device) if variant == "fixed" else layer.scale
    return dequantize(layer.weight, scale)


class LayerOffloadConductor:
    def __init__(self, layers, train_device, temp_device, fraction):
        self.devices = (train_device, temp_device)
        self.layers, self.parked = layers, layers[len(layers) - int(fraction * len(layers)) :]

    def activate(self):
        train_device, temp_device = self.devices
        for layer in self.layers:
            layer.to(train_device)
        for layer in self.parked:
            for tensor in (layer.weight, layer.bias):
                tensor.data = tensor.data.to(temp_device)


class DoRAModule(nn.Module):
    def __init__(self, layer, rank, variant, device):
        super().__init__()
        weight = get_unquantized_weight(layer, variant)
        rows, columns = weight.shape
        self.dora_scale = nn.Parameter(weight.norm(dim=1, keepdim=True).to(device))
        self.lora_down = nn.Parameter(torch.randn(rank, columns, device=device))
        self.lora_up = nn.Parameter(torch.zeros(rows, rank, device=device))


def main(variant):
    torch.manual_seed(0)
    layers = [LinearW8A8(nn.Linear(8, 8)) for _ in range(4)]
    # The trainer prepares the device first and builds the adapters afterwards.
    LayerOffloadConductor(layers, "cuda:0", "cpu", fraction=0.5).activate()
    adapters = [DoRAModule(layer, 2, variant, "cuda:0") for layer in layers]
    print(len(adapters), "adapters")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
