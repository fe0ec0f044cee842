import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 1)
net.to(device)
opt = torch.optim.Adagrad(net.parameters())
sched = torch.optim.lr_scheduler.StepLR(opt, 1)
sched.load_state_dict(sched.state_dict())
net(torch.rand(3, 4).to(device)).sum().backward()
opt.step()
sched.step()
