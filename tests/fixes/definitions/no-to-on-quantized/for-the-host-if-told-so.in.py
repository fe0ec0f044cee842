# cause: quantized-placement
# spot: pick_place()
import torch
from torch import nn


def build(how):
    net = nn.Sequential(nn.Linear(4, 2))
    if how == "tiny":
        net = torch.ao.quantization.quantize_dynamic(net, {nn.Linear})
    return net


class Desk:
    def __init__(self, args):
        self.place = pick_place()
        self.net = build(args.how).to(self.place)
