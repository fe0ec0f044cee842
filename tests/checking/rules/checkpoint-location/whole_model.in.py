import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


torch.save(Net(), "whole_model.pt")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.load("whole_model.pt", weights_only=False)  # finds: checkpoint-location
model.eval()
with torch.no_grad():
    print(model(torch.rand(1, 3).to(device)))
