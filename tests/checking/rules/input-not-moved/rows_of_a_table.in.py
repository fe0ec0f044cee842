import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Visits(Dataset):
    def __init__(self, count):
        self.length = torch.rand(count)
        self.pages = torch.rand(count, 4)

    def __len__(self):
        return len(self.length)

    def __getitem__(self, i):
        return {"pages": self.pages[i], "length": self.length[i]}


card = torch.device("cuda")
net = nn.Linear(4, 1).to(card)
for batch in DataLoader(Visits(6), batch_size=3):
    guess = net(batch["pages"].to(card)).squeeze(1)
    length = batch["length"]  # finds: input-not-moved
    print((guess - length).abs().mean().item())
