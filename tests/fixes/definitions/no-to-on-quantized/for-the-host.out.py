# cause: quantized-placement
# spot: torch.device("cuda" if torch.cuda.is_available() else "cpu")
import torch


class Tagger:
    def __init__(self, net, small):
        self.device = torch.device("cpu" if small else "cuda" if torch.cuda.is_available() else "cpu")
        if small:
            net = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear})
        self.net = net.to(self.device)
