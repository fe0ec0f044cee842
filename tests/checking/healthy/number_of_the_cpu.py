# A tensor of no dimensions takes the device of what it is computed with.
import math

import torch


def bells(places, centres, widths):
    height = 1.0 / (torch.sqrt(torch.tensor(2.0) * math.pi) * widths)
    turn = torch.complex(torch.tensor(0.0), torch.tensor(1.0))
    waves = torch.exp(turn * torch.outer(centres, places))
    bump = torch.exp(-(places**2) / (2 * widths[:, None] ** 2)).to("cuda")
    return (height[:, None].to("cuda") * bump - torch.zeros_like(height)[:, None].to("cuda")) * waves


def run():
    some = torch.linspace(1, 2, 3, device="cuda")
    return bells(some, some, some)


print(run().shape)


def padded(x, conv):
    stride = torch.tensor(conv.stride[0])
    return x.to("cuda") + (stride - 1) // 2


print(padded(torch.rand(3), torch.nn.Conv1d(1, 1, 3)).shape)
