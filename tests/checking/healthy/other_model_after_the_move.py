import torch
from torch import nn

device = torch.device("cuda")
train_net = nn.Linear(4, 4).to(device)
eval_net = nn.Linear(4, 4)
eval_net.extra = nn.Linear(4, 4)
eval_net.load_state_dict(train_net.state_dict(), strict=False)
print(train_net(torch.rand(1, 4, device=device)).cpu() + eval_net(torch.rand(1, 4)))
