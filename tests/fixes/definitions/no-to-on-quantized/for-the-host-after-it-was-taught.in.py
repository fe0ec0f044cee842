# cause: quantized-placement
# spot: net = quantize_dynamic(net.cpu(), {nn.Linear})
from torch import device, nn
from torch.ao.quantization import quantize_dynamic


class Ear:
    def __init__(self, net, place):
        self.net = net.to(place)


def main(small):
    place = device("cuda")
    net = teach(nn.Linear(2, 2), place)
    if small:
        net = quantize_dynamic(net.cpu(), {nn.Linear})
    return Ear(net, place)
