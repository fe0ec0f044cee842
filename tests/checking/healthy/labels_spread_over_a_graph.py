import torch
from torch_geometric.nn import LabelPropagation

labels = torch.zeros(6, dtype=torch.long, device="cuda")
edges = torch.zeros(2, 8, dtype=torch.long, device="cuda")
known = torch.ones(6, dtype=torch.bool, device="cuda")
print(LabelPropagation(3, 0.8)(labels, edges, mask=known))
