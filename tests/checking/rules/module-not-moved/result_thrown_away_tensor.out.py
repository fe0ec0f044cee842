import torch
from torch import nn


class Embedder:
    def __init__(self, device):
        self.device = device
        self.embed = nn.Embedding(10, 4).to(device)  # finds: module-not-moved
        self.mlp = nn.Linear(4, 4).to(device)

    def __call__(self, ids):
        return self.mlp(self.embed(ids.to(self.device)))


e = Embedder("cuda")
print(e(torch.tensor([1, 2])))
