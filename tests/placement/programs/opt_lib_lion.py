# devices: cuda:0,cpu
# causes: optimizer-state
import torch
from torch import nn
from lion_pytorch import Lion

model = nn.Linear(3, 1)  # here
opt = Lion(model.parameters(), lr=1e-4)
ck = torch.load("last.pt", map_location="cpu")
opt.load_state_dict(ck["opt"])
model.cuda()
loss = model(torch.rand(2, 3).cuda()).sum()
loss.backward()
opt.step()  # fails
