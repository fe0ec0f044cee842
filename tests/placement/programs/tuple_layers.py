# devices: cuda:0,cpu
# causes: unregistered-submodule
import torch
import torch.nn as nn

class GraphNet(nn.Module):
    def __init__(self, dims):
        super().__init__()
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers.append(nn.Linear(a, b))
        self.layers = layers  # here
        self.out = nn.Linear(dims[-1], 2)
    def forward(self, x, adj):
        for layer in self.layers:
            x = torch.relu(adj @ layer(x))  # fails
        return self.out(x)

dev = torch.device("cuda")
g = GraphNet([4, 8, 8]).to(dev)
g(torch.rand(3, 4).to(dev), torch.eye(3).to(dev))
