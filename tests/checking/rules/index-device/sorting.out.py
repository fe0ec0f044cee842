import torch
from torch import nn


def nms_like(boxes, model, device):
    scores = model(boxes.to(device)).flatten()
    order = scores.argsort(descending=True)
    return boxes[order.to("cpu")]  # finds: index-device


device = torch.device("cuda")
print(nms_like(torch.rand(5, 4), nn.Linear(4, 1).to(device), device))
