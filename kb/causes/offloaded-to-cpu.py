"""Part of the model is offloaded: a weight is read while its layer is not running."""

import torch
from torch import nn


def offload(layer, device):
    """As accelerate's hooks do: the weights are on the GPU only while the layer runs."""

    def bring(layer, args):
        layer.to(device)

    def send_back(layer, args, output):
        layer.to("cpu")

    layer.register_forward_pre_hook(bring)
    layer.register_forward_hook(send_back)


def mistake(devices):
    """The logits are made from the offloaded embedding's weight, which is on the cpu by then."""
    embed = nn.Embedding(100, 16)
    offload(embed, devices[0])
    hidden = embed(torch.randint(100, (2, 8), device=devices[0]))
    return hidden @ embed.weight.T


def fixed(devices):
    """The model fits, so it is kept on the GPU as a whole."""
    embed = nn.Embedding(100, 16).to(devices[0])
    hidden = embed(torch.randint(100, (2, 8), device=devices[0]))
    return hidden @ embed.weight.T
