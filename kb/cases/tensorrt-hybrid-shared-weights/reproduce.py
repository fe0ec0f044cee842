"""Two modules have the same parameters, and moving one of them moves the other.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` puts back what PyTorch still runs and prints "fixed: ok". An engine is
a function with frozen copies of its layer's weights.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import conv2d


def convert(layer):
    weight, bias = layer.weight.detach().clone(), layer.bias.detach().clone()
    return lambda x: conv2d(x, weight, bias)


class HybridGraph(nn.Module):
    """Convolutions have become engines; all else is run by PyTorch, with the source's parameters."""

    def __init__(self, source):
        super().__init__()
        self.steps, self.engines = [], {}
        for name, layer in source.named_children():
            if isinstance(layer, nn.Conv2d):
                self.engines[name] = convert(layer)
            else:
                fallback = type(layer).__new__(type(layer))
                fallback.__dict__.update(layer.__dict__)
                self.add_module(name, fallback)
            self.steps.append(name)

    def forward(self, x):
        for name in self.steps:
            x = self.engines[name](x) if name in self.engines else getattr(self, name)(x)
        return x


class MutableTorchTensorRTModule:
    def __init__(self, module, variant):
        self.original_model, self.variant = module, variant
        self.device = next(module.parameters()).device
        self.gm = HybridGraph(module)
        self.deallocate_module()

    def deallocate_module(self):
        self.original_model.to("cpu")
        if self.variant == "fixed":
            self.gm.to(self.device)

    def __call__(self, x):
        return self.gm(x)


def main(variant):
    torch.manual_seed(0)
    classifier = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))
    compiled = MutableTorchTensorRTModule(classifier.to("cuda").eval(), variant)
    with torch.no_grad():
        compiled(torch.randn(2, 3, 8, 8, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
