# cause: hardcoded-device
# spot: "cuda:0"
# devices: ;
import torch
from torch import nn


class Tagger(nn.Module):
    def forward(self, marks):
        starts = torch.stack([torch.zeros(len(marks), device="cuda:0"), marks], 1)
        return starts
