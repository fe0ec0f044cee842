# Whether a method moved the layer is what it returns.
import sys

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def bring(self, name):
        if name == "card":
            self.layer.cuda()
            return True
        return False


def rate(name):
    scorer = Scorer()
    if scorer.bring(name):
        return scorer.layer(torch.rand(4, 3).cuda())
    return scorer.layer(torch.rand(4, 3))


print(rate(sys.argv[-1]))
