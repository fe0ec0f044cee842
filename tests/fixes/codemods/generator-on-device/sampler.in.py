# spot: RandomSampler(rows)
# wanted: cuda
# devices: device
from torch import Generator
from torch.utils.data import DataLoader, RandomSampler


def loader(rows, device):
    return DataLoader(rows, sampler=RandomSampler(rows), batch_size=4)
