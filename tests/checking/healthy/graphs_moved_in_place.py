# A batch of graphs moves in place, also one out of a part of a data set.
import torch
from torch.utils.data import random_split
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

graphs = TUDataset("data", "ENZYMES")
some, others = random_split(graphs, [500, 100])
conv = GCNConv(3, 6).to("cuda")
for batch in DataLoader(some, batch_size=32):
    batch.to("cuda")
    out = global_mean_pool(conv(batch.x, batch.edge_index), batch.batch)
    print(out.argmax(-1) == batch.y)
