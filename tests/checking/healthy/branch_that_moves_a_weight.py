# A weight of a module that another branch moves.
import sys

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.ones(3))


scale = Scale()
match sys.argv[-1]:
    case "card":
        scale.to("cuda")
    case _:
        print(scale.by * torch.rand(3))
