# devices: cuda:0,cuda:1
# causes: dataparallel-home-device
import torch
from torch import nn

def wrap(model, gpus):
    if len(gpus) > 1:
        return nn.DataParallel(model, device_ids=gpus)  # here
    return model

device = torch.device("cuda:1")
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to(device)
net = wrap(net, [0, 1])
net(torch.rand(4, 4).to(device))  # fails
