# cause: quantized-placement
# spot: card
import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic


def measured(net, place):
    net.to(place)
    return net(frames().to(place))


def main(net, card):
    small = quantize_dynamic(net.cpu(), {nn.Linear})
    return measured(small, torch.device("cpu"))
