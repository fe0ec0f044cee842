import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        mask = torch.ones(x.shape[0], 8, device=x.device)  # finds: created-without-device
        return self.proj(x) * mask


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Masked().to(device)
x = torch.randn(4, 8, device=device)
print(model(x).shape)
