import torch
import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4, 1000)

    def forward(self, x):
        x = self.pool(self.body(x)).flatten(1)
        return self.fc(x)


def replace_head(model, n):
    model.fc = nn.Linear(model.fc.in_features, n)
    return model


def main():
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    net = Backbone()
    net.to(device)
    net = replace_head(net, 5)  # finds: submodule-added-after-move
    images = torch.rand(2, 3, 8, 8).to(device)
    print(net(images).shape)


main()
