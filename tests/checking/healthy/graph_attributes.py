import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

def place(graph, dev):
    graph.x = graph.x.to(dev)
    graph.y = graph.y.to(dev)
    graph.edge_index = graph.edge_index.to(dev)
    return graph

dev = torch.device("cuda")
graph = place(Data(x=torch.rand(4, 3), y=torch.zeros(4), edge_index=torch.tensor([[0, 1], [1, 2]])), dev)
conv = GCNConv(3, 1).to(dev)
print(nn.functional.mse_loss(conv(graph.x, graph.edge_index)[:, 0], graph.y))
