# What is named of a graph moves, its masks do not; a loader yields parts of it, where they are.
import torch
from torch_geometric.datasets import Planetoid
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import GCNConv

data = Planetoid("data", "Cora")[0].to("cuda", "x", "y")
model = GCNConv(data.num_features, 7).to("cuda")
out = model(data.x, data.edge_index.to("cuda")).cpu()
print(out[data.train_mask].mean())
for batch in NeighborLoader(data, num_neighbors=[5], batch_size=8):
    found = model(batch.x, batch.edge_index.to("cuda"))
    print(torch.nn.functional.cross_entropy(found, batch.y))
