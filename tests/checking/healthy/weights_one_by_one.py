# A weight of each class is one number, which mixes with what is on the GPU.
import torch
from torch import nn

class Dice(nn.Module):
    def __init__(self, classes, weights=None):
        super().__init__()
        self.classes = classes
        self.weights = weights if weights is not None else torch.ones(classes)

    def forward(self, out, wanted):
        loss = 0
        for c in range(self.classes):
            loss += (out[:, c] * wanted[:, c]).sum() * self.weights[c]
        return loss

net = nn.Conv2d(3, 4, 1).to("cuda")
measure = Dice(4).to("cuda")
print(measure(net(torch.rand(2, 3, 8, 8, device="cuda")), torch.rand(2, 4, 8, 8, device="cuda")))
