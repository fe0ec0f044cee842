import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
data = TensorDataset(torch.rand(8, 4), torch.randint(2, (8,)))
model = nn.Linear(4, 2).to(device)
for i, (x, y) in enumerate(DataLoader(data, batch_size=4)):
    x = x.to(device, non_blocking=True)
    y = y.to(device, non_blocking=True)
    nn.functional.cross_entropy(model(x), y).backward()
for batch in DataLoader(data, batch_size=4):
    x, y = [t.to(device) for t in batch]
    nn.functional.cross_entropy(model(x), y).backward()
for batch in DataLoader(data, batch_size=4):
    x, y = (t.cuda() for t in batch)
    print(model(x).argmax(1) == y)
