import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("cuda")
rows = [{"x": torch.rand(3), "y": torch.tensor(1)} for _ in range(4)]
model = nn.Linear(3, 2).to(device)
for batch in DataLoader(rows, batch_size=2):
    batch = {k: v.to(device) for k, v in batch.items()}
    nn.functional.cross_entropy(model(batch["x"]), batch["y"]).backward()
