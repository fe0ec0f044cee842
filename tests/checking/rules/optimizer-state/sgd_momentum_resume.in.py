import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
net(torch.rand(2, 3)).sum().backward()
optimizer.step()
saved = optimizer.state_dict()

model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))  # finds: optimizer-state
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
optimizer.load_state_dict(saved)
model.cuda()
model(torch.rand(2, 3).cuda()).sum().backward()
optimizer.step()
