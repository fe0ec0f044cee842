from torch import nn


def add_head(model, dim):
    model.head = Head(dim)
    return model


class Detector(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.backbone = nn.Linear(dim, dim)

    def set_head(self, classes):
        self.head = nn.Linear(self.backbone.out_features, classes)

    def forward(self, images):
        return self.head(self.backbone(images.flatten(1)))


class Head(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, 2)

    def forward(self, x):
        return self.fc(x.mean(1))
