"""The batch is not on the model's device: what .to() returned is thrown away."""

import torch
from torch import nn
from torch.nn import functional as F


def mistake(devices):
    """The features stay on the cpu: what .to() returned is lost."""
    device = devices[0]
    classifier = nn.Linear(16, 3).to(device)
    features, labels = torch.randn(8, 16), torch.randint(3, (8,))
    features.to(device)
    labels.to(device)
    return F.cross_entropy(classifier(features), labels).item()


def fixed(devices):
    """Every tensor of the batch is moved and assigned."""
    device = devices[0]
    classifier = nn.Linear(16, 3).to(device)
    features, labels = torch.randn(8, 16), torch.randint(3, (8,))
    features = features.to(device)
    labels = labels.to(device)
    return F.cross_entropy(classifier(features), labels).item()
