"""A dynamically quantized model is sent to the GPU, where its operator does not exist.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about the backend,
``python reproduce.py fixed`` runs the quantized model on the cpu and prints "fixed: ok".
``linear_dynamic`` has the operator's registration: for the cpu alone.
"""

import sys

import torch
from torch import nn


def linear_dynamic(x, packed):
    if x.is_cuda:
        raise NotImplementedError(
            "Could not run 'quantized::linear_dynamic' with arguments from the 'CUDA' backend."
        )
    weight, scale, bias = packed
    x_scale = x.abs().amax() / 127
    product = torch.round(x / x_scale) @ weight.T.float()
    return product * x_scale * scale + bias


class DynamicQuantizedLinear(nn.Module):
    """Its packed weight is no parameter: .to() does not reach it."""

    def __init__(self, linear):
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax() / 127
        self.packed = torch.round(weight / scale).to(torch.int8), scale, linear.bias.detach()

    def forward(self, x):
        return linear_dynamic(x, self.packed)


def quantize_dynamic(model):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            setattr(model, name, DynamicQuantizedLinear(child))
    return model


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    quantized_model = quantize_dynamic(model.eval())
    device = torch.device("cpu" if variant == "fixed" else "cuda")
    quantized_model.to(device)
    batch_input_ids = torch.randint(20, (4, 6), device=device)
    print(quantized_model(batch_input_ids).mean(dim=1).argmax(dim=-1))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
