# The order of a split is drawn on the CPU, whatever the model is on.
import torch
from torch.utils.data import TensorDataset, random_split


class Data:
    def __init__(self, seed, device):
        self.source = torch.Generator(device=device).manual_seed(seed)

    def parts(self):
        whole = TensorDataset(torch.rand(10, 3))
        return random_split(whole, [8, 2], generator=self.source)


print([len(part) for part in Data(0, "cpu").parts()])  # finds: generator-device
