import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Straightener(nn.Module):
    """Bends an image so that its line of text is straight."""

    def __init__(self, points, size, batch_size):
        super().__init__()
        self.points = points
        self.size = size
        self.localization = nn.Linear(size[0] * size[1], points * 2)
        self.grid = Grid(points, size, batch_size)

    def forward(self, images):
        found = self.localization(images.flatten(1)).view(-1, self.points, 2)
        grid = self.grid.build(found)
        grid = grid.reshape(grid.size(0), self.size[0], self.size[1], 2)
        return F.grid_sample(images, grid, padding_mode="border", align_corners=False)


class Grid(nn.Module):
    def __init__(self, points, size, batch_size):
        super().__init__()
        inverse = np.linalg.pinv(np.random.default_rng(0).normal(size=(points + 3, points + 3)))
        places = np.random.default_rng(1).normal(size=(size[0] * size[1], points + 3))
        self.inverse = torch.tensor(inverse).float().to(device)
        self.places = torch.tensor(places).float().to(device)

        self.batch_places = self.places.repeat(batch_size, 1, 1)
        self.batch_inverse = self.inverse.repeat(batch_size, 1, 1)

    def build(self, found):
        batch_size = found.size(0)
        found = torch.cat((found, torch.zeros(batch_size, 3, 2).to(found)), dim=1)
        turned = torch.bmm(self.batch_inverse[:batch_size, :, :], found)
        return torch.bmm(self.batch_places[:batch_size, :, :], turned)
