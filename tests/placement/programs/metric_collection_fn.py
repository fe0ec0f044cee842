# devices: cuda:0,cpu
# causes: loss-or-metric-state
import torch
from torch import nn
from torchmetrics import MetricCollection, MeanAbsoluteError, MeanSquaredError

def get_metrics():
    return MetricCollection([MeanAbsoluteError(), MeanSquaredError()])

def evaluate(model, loader, device):
    metrics = get_metrics()  # here
    for x, y in loader:
        pred = model(x.to(device))
        metrics(pred, y.to(device))  # fails
    return metrics.compute()

model = nn.Linear(2, 1).cuda()
evaluate(model, [(torch.rand(3, 2), torch.rand(3, 1))], "cuda")
