import torch
from flows.matching import Matcher
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

use_cuda = torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(size + 1, 16), nn.SELU(), nn.Linear(16, size))

    def forward(self, t, x):
        return self.layers(torch.cat([x, t.unsqueeze(1)], dim=1))


def endless(loader):
    while True:
        yield from loader


def train(rank, parallel):
    batches = endless(DataLoader(torch.randn(16, 3), batch_size=8))
    net = Net(3).to(rank)
    optimizer = torch.optim.Adam(net.parameters())
    if parallel:
        net = DistributedDataParallel(net, device_ids=[rank])
    matcher = Matcher()
    for _ in range(3):
        optimizer.zero_grad()
        x1 = next(batches).to(device)
        x0 = torch.randn_like(x1)
        t, xt, ut = matcher.sample(x0, x1)
        vt = net(t, xt)
        loss = torch.mean((vt - ut) ** 2)
        loss.backward()
        optimizer.step()
    print(loss.item())
