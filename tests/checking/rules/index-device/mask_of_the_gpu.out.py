import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 1).to(device)
x = torch.rand(8, 4)
score = net(x.to(device)).squeeze(1)
hard = x[(score > 0.5).to("cpu")]  # finds: index-device
print(hard.shape)
