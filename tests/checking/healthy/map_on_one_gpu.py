import torch
from torch import nn
from accelerate import dispatch_model

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(4, 4)
    def forward(self, x):
        return self.low(x)

net = nn.DataParallel(dispatch_model(Net().to("cuda:0"), device_map={"": 0}))
print(net(torch.rand(6, 4, device="cuda:0")).shape)
