import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

device = torch.device("cuda")
g = torch.Generator()
g.manual_seed(3)
data = TensorDataset(torch.rand(8, 2))
a, b = random_split(data, [6, 2], generator=g)
net = torch.nn.Linear(2, 1).to(device)
for (x,) in DataLoader(a, batch_size=2, shuffle=True, generator=g):
    print(net(x.to(device)))
