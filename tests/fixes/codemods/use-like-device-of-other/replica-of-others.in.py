# cause: dataparallel-replica-state
# spot: torch.zeros(len(x), 8, device=self.device)
# devices: self.device
import torch
from torch import nn
from torch_geometric.nn import GCNConv


class Walks(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = nn.Linear
        self.conv = GCNConv(8, 8)
        self.norm = nn.LayerNorm(8, elementwise_affine=False)
        self.names = nn.Embedding(9, 8)
        self.device = torch.device("cuda:0")

    def forward(self, x):
        return self.norm(self.names(x)) + torch.zeros(len(x), 8, device=self.device)
