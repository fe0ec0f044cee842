import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(8, 8)
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        return self.fc(self.features(x))


device = torch.device("cuda")
model = Net().to(device)
model.fc = nn.Linear(8, 2).to(device)  # finds: submodule-added-after-move
print(model(torch.rand(3, 8, device=device)).shape)
