"""An adapter moves its new weights to the layer it wraps, all but one that the list forgets.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has the last name in the list and prints "fixed: ok".
``AdaLoraLayer`` has the parameters of PEFT's AdaLoRA; ranknum divides the update in the forward.
"""

import sys

import torch
from torch import nn


class AdaLoraLayer(nn.Module):
    adapter_layer_names = ("lora_A", "lora_E", "lora_B")

    def __init__(self, base_layer):
        super().__init__()
        self.base_layer = base_layer
        for name in ("lora_A", "lora_E", "lora_B", "ranknum"):
            self.register_module(name, nn.ParameterDict())

    def update_layer(self, adapter_name, r):
        rows, columns = self.base_layer.weight.shape
        self.lora_A[adapter_name] = nn.Parameter(torch.randn(r, columns) * 0.02)
        self.lora_E[adapter_name] = nn.Parameter(torch.zeros(r, 1))
        self.lora_B[adapter_name] = nn.Parameter(torch.randn(rows, r) * 0.02)
        self.ranknum[adapter_name] = nn.Parameter(torch.full((1,), float(r)), requires_grad=False)
        for name in self.adapter_layer_names:
            getattr(self, name).to(self.base_layer.weight.device)

    def forward(self, x):
        result = self.base_layer(x)
        for key in self.lora_A:
            update = x @ (self.lora_A[key] * self.lora_E[key]).T @ self.lora_B[key].T
            result = result + update / (self.ranknum[key] + 1e-5)
        return result


def get_peft_model(model, r=2):
    for name, layer in model.named_children():
        wrapped = AdaLoraLayer(layer)
        wrapped.update_layer("default", r)
        setattr(model, name, wrapped)
    return model


def main(variant):
    torch.manual_seed(0)
    if variant == "fixed":
        AdaLoraLayer.adapter_layer_names += ("ranknum",)
    model = nn.Sequential(nn.Linear(6, 6)).to("cuda:0")
    model = get_peft_model(model)
    print("lora_A on", model[0].lora_A["default"].device, file=sys.stderr)
    print("ranknum on", model[0].ranknum["default"].device, file=sys.stderr)
    model(torch.rand(1, 3, 6, device="cuda:0")).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
