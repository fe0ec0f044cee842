# What a factory makes is where its values are, or what it is written into.
import torch
from torch import nn


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))

    def spread(self, places, values, x):
        spread = torch.sparse_coo_tensor(places, values * self.scale.sum(), (4, 4))
        return torch.sparse.mm(spread, x)

    def forward(self, x):
        counted = torch.arange(0, 4, out=torch.cuda.LongTensor(4))
        places = torch.stack([counted, counted])
        return self.spread(places, self.scale, x) + (counted < 2).unsqueeze(1) * self.scale


print(Rows().cuda()(torch.rand(4, 4).cuda()).shape)


def below(lengths, x, longest):
    ids = torch.arange(0, longest, out=torch.cuda.LongTensor(longest))
    return x.cuda().masked_fill(ids < lengths.cuda().unsqueeze(1), 0.0)


print(below(torch.tensor([1, 2]), torch.rand(2, 3), 3))
