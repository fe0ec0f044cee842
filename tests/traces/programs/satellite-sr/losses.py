from torch import nn


class PerceptualLoss(nn.Module):
    """Distance of two pictures in the features of a frozen network."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3)
        ).eval()
        self.requires_grad_(False)

    def forward(self, sharp, true):
        return (self.features(sharp) - self.features(true)).abs().mean()
