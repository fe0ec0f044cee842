import torch
import torch.nn as nn
from accelerate import dispatch_model

class Body(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first, self.second = nn.Linear(d, d), nn.Linear(d, 1)
    def forward(self, x):
        return self.second(self.first(x).relu())

class Trainer:
    def __init__(self, net, gpus):
        self.net = nn.DataParallel(net) if gpus > 1 else net  # finds: device-map-under-training
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def step(self, x):
        loss = self.net(x).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

def shard(net):
    half = {"first": 0, "second": torch.cuda.device_count() - 1}
    return dispatch_model(net, device_map=half)

print(Trainer(shard(Body(3)), torch.cuda.device_count()).step(torch.rand(8, 3).to("cuda:0")))
