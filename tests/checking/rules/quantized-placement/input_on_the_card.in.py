import torch
from torch import nn
from torch.quantization import quantize_dynamic

class Glaze(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(3, 4)
    def forward(self, x):
        return self.mix(x).softmax(-1)

net = quantize_dynamic(Glaze().eval())
oxides = torch.rand(5, 3).cuda()
print(net(oxides))  # finds: quantized-placement
