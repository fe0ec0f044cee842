import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.fc = nn.Linear(4, 10)

    def forward(self, x):
        return self.fc(self.body(x))


model = Net().cuda()
model.fc = nn.Identity()
model.act = nn.ReLU()
model.drop = nn.Dropout(0.1)
print(model(torch.rand(1, 4).cuda()).shape)
