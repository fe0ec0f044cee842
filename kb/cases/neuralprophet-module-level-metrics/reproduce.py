"""Metrics are made once for the whole library and handed to a model that knows them by name only.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes them inside the module and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class MeanAbsoluteError(nn.Module):
    """torchmetrics' in small: sums in buffers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sum_abs_error", torch.zeros(1))
        self.register_buffer("total", torch.zeros(1))

    def update(self, preds, target):
        self.sum_abs_error += (preds - target).abs().sum().reshape(1)
        self.total += torch.ones_like(target).sum().reshape(1)


METRICS = {"MAE": MeanAbsoluteError()}


def get_metrics(names):
    return {name: METRICS[name] for name in names}


class TimeNet(nn.Module):
    def __init__(self, n_lags, metrics, variant):
        super().__init__()
        self.ar_net = nn.Linear(n_lags, 1)
        if variant == "fixed":
            self.metrics_train = nn.ModuleDict({name: MeanAbsoluteError() for name in metrics})
        else:
            self.metrics_train = get_metrics(metrics)

    def training_step(self, lags, targets):
        predicted = self.ar_net(lags).squeeze(-1)
        for metric in self.metrics_train.values():
            metric.update(predicted.detach(), targets)
        return nn.functional.smooth_l1_loss(predicted, targets)


def main(variant):
    torch.manual_seed(0)
    model = TimeNet(n_lags=5, metrics=["MAE"], variant=variant).to("cuda")
    lags, targets = torch.randn(8, 5, device="cuda"), torch.randn(8, device="cuda")
    model.training_step(lags, targets).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
