import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(4, 2).to(device)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    x = torch.rand(3, 4).to(device)
    y = torch.randint(0, 2, (3,), device=device)  # finds: hardcoded-device
    loss_fn(net(x), y).backward()
