import os, tempfile
import torch
from torch import nn

def train(path):
    net = nn.Linear(4, 4).to("cuda:1")
    torch.save({"mean": net(torch.randn(8, 4, device="cuda:1")).mean(0).detach()}, path)

class Served:
    def __init__(self, path, device):
        self.net = nn.Linear(4, 4).to(device)
        kept = torch.load(path, map_location=device)  # finds: checkpoint-location
        self.mean = kept["mean"]
        self.device = device

    def __call__(self, x):
        return self.net(x.to(self.device)) - self.mean

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "mean.pt")
    train(path)
    print(Served(path, torch.device("cuda:0"))(torch.randn(2, 4)).shape)
