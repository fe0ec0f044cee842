import torch


class ConfusionMeter:
    """Counts predictions by true class over an epoch."""

    def __init__(self, classes):
        self.classes = classes
        self.reset()

    def reset(self):
        self.matrix = torch.zeros(self.classes, self.classes)

    def update(self, predicted, true):
        cells = true * self.classes + predicted
        counts = torch.bincount(cells, minlength=self.classes**2)
        self.matrix += counts.view(self.classes, self.classes)

    def compute(self):
        return self.matrix.diag().sum() / self.matrix.sum()
