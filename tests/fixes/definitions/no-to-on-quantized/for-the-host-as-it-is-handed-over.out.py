# cause: quantized-placement
# spot: card
import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic


def pressed(net):
    small = quantize_dynamic(net.cpu(), {nn.Linear})
    return small


class Till:
    def __init__(self, net, place):
        self.place = place
        self.net = net.to(self.place)


def main(net, card):
    return Till(pressed(net), torch.device("cpu"))
