# A position that is taken out of a tensor picks from any device.
import torch

scores = torch.rand(4)
chosen = torch.tensor([0, 2]).cuda()


def row(table, i: int):
    return table[i]


print([scores[i] for i in chosen], [row(scores, i) for i in chosen])
