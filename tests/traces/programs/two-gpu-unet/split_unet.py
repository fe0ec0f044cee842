import torch
from torch import nn


class SplitUNet(nn.Module):
    """Too big for one GPU: the way down is on the first, the way up on the second."""

    def __init__(self, width=8):
        super().__init__()
        self.down1 = nn.Conv3d(1, width, 3, padding=1).to("cuda:0")
        self.down2 = nn.Conv3d(width, width, 3, stride=2, padding=1).to("cuda:0")
        self.middle = nn.Conv3d(width, width, 3, padding=1).to("cuda:1")
        self.up = nn.ConvTranspose3d(width, width, 2, stride=2).to("cuda:1")
        self.out = nn.Conv3d(2 * width, 1, 1).to("cuda:1")

    def forward(self, volume):
        skip = torch.relu(self.down1(volume.to("cuda:0")))
        hidden = torch.relu(self.down2(skip))
        hidden = torch.relu(self.middle(hidden.to("cuda:1")))
        hidden = torch.cat([self.up(hidden), skip], dim=1)
        return self.out(hidden)
