# cause: quantized-placement
# spot: find_place()
import torch
from torch import nn


def packed(net):
    return torch.ao.quantization.quantize_dynamic(net.eval(), {nn.GRU})


WAYS = {"plain": nn.Identity(), "packed": packed}


class Desk:
    def __init__(self, net, how):
        self.place = torch.device("cpu") if how == "packed" else find_place()
        self.net = WAYS[how](net).to(self.place)
