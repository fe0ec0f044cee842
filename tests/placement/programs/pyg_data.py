# devices: cuda:0,cpu
# causes: input-not-moved
import torch
from torch_geometric.datasets import Planetoid
from torch_geometric.nn import GCNConv

class GCN(torch.nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.c1 = GCNConv(i, 16)
        self.c2 = GCNConv(16, o)
    def forward(self, data):
        x, ei = data.x, data.edge_index
        return self.c2(self.c1(x, ei).relu(), ei)  # fails

dataset = Planetoid("/tmp/Cora", "Cora")
device = torch.device("cuda")
model = GCN(dataset.num_features, dataset.num_classes).to(device)
data = dataset[0]  # here
model(data)
