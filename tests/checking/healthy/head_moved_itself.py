import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(self.body(x))


device = torch.device("cuda")
model = Net().to(device)
model.fc = nn.Linear(4, 2).to(device)
print(model(torch.rand(1, 4, device=device)))
model.fc = nn.Linear(4, 2, device=device)
print(model(torch.rand(1, 4, device=device)))
