import torch
from torch import nn


def to_device(thing, device):
    if isinstance(thing, (list, tuple)):
        return [to_device(t, device) for t in thing]
    if isinstance(thing, dict):
        return {k: to_device(v, device) for k, v in thing.items()}
    return thing.to(device)


class DeviceLoader:
    def __init__(self, loader, device):
        self.loader = loader
        self.device = device

    def __iter__(self):
        for batch in self.loader:
            yield to_device(batch, self.device)


device = torch.device("cuda")
data = torch.utils.data.TensorDataset(torch.rand(4, 3), torch.rand(4, 1))
loader = DeviceLoader(torch.utils.data.DataLoader(data, batch_size=2), device)
net = nn.Linear(3, 1).to(device)
for x, y in loader:
    print(((net(x) - y) ** 2).mean())
