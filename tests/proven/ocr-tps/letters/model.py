from letters.straightening import Straightener
from torch import nn


class Reader(nn.Module):
    def __init__(self, points, size, batch_size, letters):
        super().__init__()
        self.straightener = Straightener(points, size, batch_size)
        self.features = nn.Conv2d(1, 8, 3)
        self.prediction = nn.Linear(8, letters)

    def forward(self, input):
        input = self.straightener(input)
        return self.prediction(self.features(input).mean(dim=(2, 3)))
