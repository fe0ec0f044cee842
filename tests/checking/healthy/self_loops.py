# The weights stay beside the edges, and are not mixed with them.
import torch
from torch_geometric.utils import add_self_loops

edges = torch.tensor([[0, 1, 2], [1, 2, 0]]).cuda()
weights = torch.ones(3)
edges, weights = add_self_loops(edges, weights, num_nodes=3)
print(edges.shape, weights.shape)
