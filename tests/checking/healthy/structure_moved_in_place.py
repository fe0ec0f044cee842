# What the loader yields is an object of somebody's that moves in place.
import torch
from torch import nn
from torch.utils.data import DataLoader
import mydata

net = nn.Linear(4, 2).to("cuda")
for batch in DataLoader(mydata.Cases("train"), batch_size=8):
    batch.to("cuda")
    print(net(batch.features) - batch.labels)
