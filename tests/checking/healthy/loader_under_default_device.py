import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_default_device("cuda")
g = torch.Generator(device="cuda").manual_seed(0)
data = TensorDataset(torch.rand(8, 2))
train, rest = random_split(data, [6, 2], generator=g)
for (x,) in DataLoader(train, batch_size=2, shuffle=True, generator=g):
    print((x * torch.rand(2)).sum().item())
