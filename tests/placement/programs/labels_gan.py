# devices: cuda:0,cpu
# causes: created-without-device,input-not-moved
import torch
from torch import nn

def train(G, D, loader, device):
    bce = nn.BCELoss()
    optD = torch.optim.Adam(D.parameters())
    for real, _ in loader:
        real = real.to(device)
        b = real.size(0)
        ones = torch.ones(b, 1)  # here
        lossD = bce(D(real), ones)  # fails
        lossD.backward()
        optD.step()

dev = torch.device("cuda:0")
G = nn.Linear(4, 8).to(dev)
D = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid()).to(dev)
data = torch.utils.data.TensorDataset(torch.randn(16, 8), torch.zeros(16))
train(G, D, torch.utils.data.DataLoader(data, batch_size=4), dev)
