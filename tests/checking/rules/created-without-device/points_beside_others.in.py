import torch
from torch import nn


class Disc:
    def __init__(self, device):
        self.device = device

    def inside(self, n):
        return torch.rand(n, 2, device=self.device)

    def rim(self, n):
        angle = torch.linspace(0, 6.28, n)  # finds: created-without-device
        return torch.stack([angle.cos(), angle.sin()], dim=1)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    field = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
    disc = Disc(device)
    loss = field(disc.inside(32)).square().mean()
    loss = loss + field(disc.rim(16)).square().mean()
    loss.backward()


main()
