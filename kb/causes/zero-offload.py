"""ZeRO offload keeps the optimizer on the cpu: its gradients meet a loss scale on the GPU."""

import torch
from torch import nn


class OffloadedSGD:
    """As ZeRO's optimizer offload: master weights, gradients and the step are on the cpu."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.masters = [p.detach().float().cpu() for p in self.parameters]

    def step(self, loss_scale):
        for parameter, master in zip(self.parameters, self.masters, strict=True):
            gradient = parameter.grad.float().cpu()
            master -= 0.1 * gradient.div_(loss_scale)
            parameter.data.copy_(master)


def backward(device):
    """A step of scaled training: the optimizer, and the scale as a tensor on the GPU."""
    layer = nn.Linear(16, 4).to(device)
    loss_scale = torch.tensor(1024.0, device=device)
    (layer(torch.randn(8, 16, device=device)).mean() * loss_scale).backward()
    return OffloadedSGD(layer.parameters()), loss_scale


def mistake(devices):
    """A gradient on the cpu is divided by a tensor on the GPU."""
    optimizer, loss_scale = backward(devices[0])
    optimizer.step(loss_scale)


def fixed(devices):
    """The scale comes to the cpu, where the gradients are."""
    optimizer, loss_scale = backward(devices[0])
    optimizer.step(loss_scale.item())
