import torch
from torch import nn

device = "cuda:0"
net = nn.Linear(3, 3).to(device)
bias = torch.cuda.FloatTensor(3).fill_(0)  # finds: hardcoded-device
out = net(torch.rand(1, 3).to(device)) + bias
