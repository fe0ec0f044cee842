import torch
from torch import nn

class Noise(nn.Module):
    def __init__(self, dim, device):
        super().__init__()
        self.device = device
        self.fc = nn.Linear(dim, dim)
    def forward(self, x):
        eps = torch.randn(x.shape[0], 1, device=self.device)  # finds: dataparallel-replica-state
        return self.fc(x) + eps

gpu = torch.device("cuda:0")
model = nn.DataParallel(Noise(5, gpu).to(gpu))
out = model(torch.ones(4, 5, device=gpu))
print(out.mean().item())
