import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
D = nn.Sequential(nn.Linear(10, 1), nn.Sigmoid()).to(device)
G = nn.Linear(3, 10).to(device)
bce = nn.BCELoss()
opt_d = torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(2):
    noise = torch.randn(6, 3, device=device)
    fake = G(noise).detach()
    target = torch.zeros(6, 1, device=device)  # finds: created-without-device|input-not-moved
    loss = bce(D(fake), target)
    opt_d.zero_grad()
    loss.backward()
    opt_d.step()
