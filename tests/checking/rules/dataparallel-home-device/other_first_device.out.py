import torch
from torch import nn

model = nn.Linear(4, 4).to("cuda:0")
model = nn.DataParallel(model.to("cuda:1"), device_ids=[1, 0])  # finds: dataparallel-home-device
print(model(torch.rand(4, 4).to("cuda:0")))
