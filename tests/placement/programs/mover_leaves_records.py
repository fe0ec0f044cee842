# devices: cuda:0,cpu
# causes: input-not-moved
import dataclasses
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

@dataclasses.dataclass
class Scene:
    points: torch.Tensor
    heights: torch.Tensor

@dataclasses.dataclass
class Scenes:
    views: torch.Tensor
    truths: list

class Survey(Dataset):
    def __init__(self, count):
        self.kept = [(torch.rand(6), Scene(torch.rand(3, 2), torch.rand(3))) for _ in range(count)]
    def __len__(self):
        return len(self.kept)
    def __getitem__(self, number):
        return self.kept[number]

def together(rows):
    views, truths = zip(*rows)
    return Scenes(torch.stack(views), list(truths))

def brought(value, device):
    if torch.is_tensor(value):
        return value.to(device)
    if dataclasses.is_dataclass(value):
        return type(value)(**{f.name: brought(getattr(value, f.name), device) for f in dataclasses.fields(value)})
    return value  # here

net = nn.Linear(6, 3).to("cuda")
for scenes in DataLoader(Survey(8), batch_size=4, collate_fn=together):
    scenes = brought(scenes, "cuda")
    guessed = net(scenes.views)
    loss = guessed.new_zeros(())
    for row, truth in enumerate(scenes.truths):
        loss = loss + F.l1_loss(guessed[row], truth.heights / 2)  # fails
    loss.backward()
