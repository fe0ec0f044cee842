import torch
from torch import nn


class BoxHead(nn.Module):
    """Turns a feature map into boxes, relative to anchors of three sizes at each cell."""

    def __init__(self, channels, cells, sizes=(8.0, 16.0, 32.0)):
        super().__init__()
        self.offsets = nn.Conv2d(channels, 4 * len(sizes), 1)
        self.anchors = self.make_anchors(cells, torch.tensor(sizes))

    @staticmethod
    def make_anchors(cells, sizes):
        centres = torch.cartesian_prod(torch.arange(cells), torch.arange(cells)) + 0.5
        centres = centres.repeat_interleave(len(sizes), dim=0)
        sides = sizes.repeat(cells * cells).unsqueeze(1).expand(-1, 2)
        return torch.cat([centres, sides], dim=1)

    def forward(self, maps):
        offsets = self.offsets(maps).permute(0, 2, 3, 1).reshape(len(maps), -1, 4)
        return torch.cat(
            [self.anchors[:, :2] + offsets[..., :2], self.anchors[:, 2:] * offsets[..., 2:].exp()],
            dim=-1,
        )
