import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")


def collate(rows):
    return torch.stack(rows).to(device)


model = nn.Linear(3, 1).to(device)
for x in DataLoader(list(torch.rand(4, 3)), batch_size=2, collate_fn=collate):
    print(model(x))
