import torch
from torch import nn


class Vgg(nn.Module):
    def __init__(self):
        super().__init__()
        self.classifier = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 10))

    def forward(self, x):
        return self.classifier(x)


model = Vgg()
model.cuda()
model.classifier[2] = nn.Linear(6, 2).to(next(model.parameters()).device)  # finds: submodule-added-after-move
print(model(torch.rand(4, 6).cuda()))
