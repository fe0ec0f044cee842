import torch
from torch_geometric.utils import degree

class Walks:
    def __init__(self, edges, nodes):
        self.odds = degree(edges[0], nodes) + 1
        self.generator = torch.Generator()  # finds: generator-device

    def draw(self, count):
        return torch.multinomial(self.odds, count, generator=self.generator)

edges = torch.tensor([[0, 1, 2], [1, 2, 0]], device="cuda")
print(Walks(edges, 3).draw(2))
