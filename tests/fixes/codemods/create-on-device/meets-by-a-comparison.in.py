# cause: created-without-device
# spot: torch.arange(rows)
# devices: place
import torch

place = torch.device("cuda")


def slope(rows, every=4):
    beat = torch.arange(rows) % every
    alike = beat[:, None] == beat[None, :]
    found = torch.where(alike, 0.5, 0.0)
    return found.masked_fill(torch.ones(rows, rows).triu(1).bool(), -1.0)
