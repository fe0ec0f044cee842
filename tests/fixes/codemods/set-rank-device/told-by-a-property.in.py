# cause: rank-device
# spot: torch.device("cuda", self.local_rank)
# devices:
import torch


class Berth:
    def __init__(self, local_rank):
        self.local_rank = local_rank

    @property
    def place(self):
        return torch.device("cuda", self.local_rank)


def main(local_rank):
    berth = Berth(local_rank)
    sail(berth)
