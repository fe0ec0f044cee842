# cause: hardcoded-device
# spot: grid(side)
# devices: self.place
import torch


def grid(side, *, place="cuda:0"):
    return torch.ones(side, side, device=place)


class Board:
    def __init__(self, side, place):
        self.place = place
        self.cells = grid(side)
