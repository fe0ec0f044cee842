# What makes the batches moves them.
import torch
from torch import nn
from torch.utils.data import DataLoader


class Collator:
    def __init__(self, device):
        self.device = device

    def __call__(self, rows):
        x = torch.tensor([row["x"] for row in rows]).to(self.device)
        return {"name": [row["name"] for row in rows], "x": x}


def collate_for(model):
    def collate(rows):
        names, values = zip(*((row["name"], row["x"]) for row in rows))
        place = next(model.parameters()).device
        return {"name": names, "x": torch.tensor(values).to(place)}

    return collate


rows = [{"name": str(n), "x": [float(n), 1.0]} for n in range(4)]
model = nn.Linear(2, 1).to("cuda")
for make in (Collator("cuda"), collate_for(model)):
    for batch in DataLoader(rows, batch_size=2, collate_fn=make):
        print(model(batch["x"]).shape)
