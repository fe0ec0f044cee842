import torch
from torch import nn
from torch.utils.data import DataLoader

net = nn.Linear(5, 1).cuda()
loader = DataLoader(dict(enumerate(torch.rand(12, 5))), batch_size=4)
for batch in loader:
    error = net(batch.cuda()).pow(2).sum()
    count = batch.shape[0]
    print((error / count).item())
