import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return {"left": torch.rand(4), "right": torch.rand(4)}


class Compare(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, left, right):
        return (self.fc(left) * self.fc(right)).sum(-1)


def brought(batch, device):
    for key, value in batch.items():
        if torch.is_tensor(value):
            batch[key] = value.to(device)  # finds: input-not-moved
    return batch


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = Compare().to(device)
for batch in DataLoader(Pairs(), batch_size=4):
    net(**brought(batch, device)).mean().backward()
