from series.correlation import Correlation
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Linear(size, size)
        self.correlation = Correlation()
        self.projection = nn.Linear(size, size)

    def forward(self, x):
        x = self.embedding(x)
        series = x.unflatten(-1, (self.heads, -1))
        return self.projection(self.correlation(series, series, series).flatten(2))
