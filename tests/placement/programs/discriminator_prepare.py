# devices: cuda:0,cpu
# causes: module-not-moved
import torch
from accelerate import Accelerator
from torch import nn

def make(dim):
    return nn.Sequential(nn.Linear(dim, 32), nn.LeakyReLU(), nn.Linear(32, 1))

def main():
    accelerator = Accelerator()
    G, D = nn.Linear(8, 16), make(16)
    og, od = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(32, 16), batch_size=8)
    G, og, loader = accelerator.prepare(G, og, loader)  # here
    for real in loader:
        z = torch.randn(real.size(0), 8, device=accelerator.device)
        fake = G(z)
        loss_d = D(fake.detach()).mean() - D(real).mean()  # fails
        accelerator.backward(loss_d)
        od.step()

if __name__ == "__main__":
    main()
