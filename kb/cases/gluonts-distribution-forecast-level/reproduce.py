"""A forecast asks its distribution for a quantile at a level that was made on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the level where the parameters are and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class DistributionForecast:
    def __init__(self, distribution, variant):
        self.distribution = distribution
        self.variant = variant

    def quantile(self, level):
        device = self.distribution.mean.device if self.variant == "fixed" else None
        level = torch.tensor([level], device=device)
        return self.distribution.icdf(level).cpu().numpy()


class SimpleFeedForwardModel(nn.Module):
    def __init__(self, context_length, prediction_length):
        super().__init__()
        self.mean = nn.Linear(context_length, prediction_length)
        self.log_scale = nn.Linear(context_length, prediction_length)

    def forward(self, past_target):
        return self.mean(past_target), self.log_scale(past_target).exp()


class PyTorchPredictor:
    def __init__(self, network, device, variant):
        self.network = network.to(device)
        self.device = device
        self.variant = variant

    @torch.no_grad()
    def predict(self, dataset):
        for past_target in dataset:
            loc, scale = self.network(past_target.to(self.device))
            yield DistributionForecast(torch.distributions.Normal(loc, scale), self.variant)


def main(variant):
    torch.manual_seed(0)
    network = SimpleFeedForwardModel(context_length=10, prediction_length=5)
    predictor = PyTorchPredictor(network, "cuda", variant)
    for forecast in predictor.predict([torch.randn(10)]):
        for level in (0.1, 0.5, 0.9):
            forecast.quantile(level)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
