# devices: cuda:0,cpu
# causes: submodule-added-after-move
import torch
import torchvision
from torch import nn

def get_model(n, device):
    net = torchvision.models.resnet18(weights=None).to(device)
    for p in net.parameters():
        p.requires_grad = False
    net.fc = nn.Linear(net.fc.in_features, n)  # here
    return net

device = torch.device("cuda")
net = get_model(5, device)
net(torch.rand(1, 3, 64, 64, device=device))  # fails
