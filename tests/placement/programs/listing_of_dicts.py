# devices: cuda:0,cpu
# causes: input-not-moved
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Scenes(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.rand(3), {"mass": torch.rand(3), "name": torch.tensor(i)}

class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)

    def forward(self, images, goals):
        return sum((self.body(i) - g["mass"]).pow(2).mean() for i, g in zip(images, goals))  # fails

def train(model, loader, where):
    for images, goals in loader:
        images = [image.to(where) for image in images]
        goals = [{k: v for k, v in goal.items()} for goal in goals]  # here
        model(images, goals).backward()

where = torch.device("cuda")
train(Scorer().to(where), DataLoader(Scenes(), batch_size=2, collate_fn=lambda rows: tuple(zip(*rows))), where)
