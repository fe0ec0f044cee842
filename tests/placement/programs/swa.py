# devices: cuda:0,cpu
# causes: module-not-moved
import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, SWALR

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 2))
swa_model = AveragedModel(model)  # here
model = model.to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = SWALR(opt, swa_lr=0.05)
for epoch in range(3):
    x = torch.randn(8, 10).to(device)
    loss = model(x).sum()
    loss.backward()
    opt.step()
    swa_model.update_parameters(model)
    sched.step()
out = swa_model(torch.randn(2, 10).to(device))  # fails
