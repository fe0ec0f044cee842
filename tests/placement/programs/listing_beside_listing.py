# devices: cuda:0,cpu
# causes: input-not-moved
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

def parts(row, where):
    halves = {k: v.to(where) for k, v in row.items() if k != "y"}, {k: v for k, v in row.items() if k == "y"}  # here
    return halves

def error(out, goal):
    return F.mse_loss(out, goal["y"])  # fails

where = torch.device("cuda")
model = nn.Linear(3, 1).to(where)
rows = [{"x": torch.rand(3), "y": torch.rand(1)} for _ in range(8)]
for row in DataLoader(rows, batch_size=4):
    given, goal = parts(row, where)
    error(model(given["x"]), goal).backward()
