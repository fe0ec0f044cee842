# devices: cpu
# causes: index-device
import torch
from torch import nn

def search(model, start, width=3):
    where = next(model.parameters()).device
    history = torch.zeros(width, 1)
    best = torch.zeros(width, device=where)
    for _ in range(4):
        best, flat = (best[:, None] + model(start.to(where))).view(-1).topk(width)
        parent = flat // 7
        history = history[parent]  # fails # here
    return history

search(nn.Linear(4, 7).to("cuda"), torch.rand(3, 4))
