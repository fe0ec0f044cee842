# devices: cuda:0,cpu
# causes: input-not-moved
import torch
from torch import nn

def collate(rows):
    left = torch.tensor([row[0] for row in rows])
    right = torch.tensor([row[1] for row in rows])
    gap = torch.tensor([row[2] for row in rows])
    return [(left, right, gap)]

def epoch(model, rows, where):
    chunks = [(a.to(where), b.to(where), gap) for a, b, gap in collate(rows)]  # here
    for a, b, gap in chunks:
        loss = torch.relu(gap - model(a) + model(b)).mean()  # fails
        loss.backward()

where = torch.device("cuda")
model = nn.Linear(2, 1).to(where)
epoch(model, [((1.0, 2.0), (0.0, 1.0), 0.5)], where)
