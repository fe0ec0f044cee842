import torch
from accelerate import dispatch_model
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(4, 4)
        self.high = nn.Linear(4, 2)
    def forward(self, x):
        return self.high(self.low(x))

net = dispatch_model(Net(), device_map={"low": 0, "high": 1})
net = nn.DataParallel(net)  # finds: device-map-under-training
print(net(torch.rand(6, 4, device="cuda:0")))
