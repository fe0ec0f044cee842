# cause: quantized-placement
# spot: torch.device(card)
import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic

WAYS = {}


def way(name):
    def put(function):
        WAYS[name] = function
        return function

    return put


@way("small")
def packed(net):
    return quantize_dynamic(net, {nn.Linear})


def main(net, how, card):
    place = torch.device(card)
    return WAYS[how](net).to(place)
