import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(3, 3)
torch.save(net.state_dict(), "net.pt")
net.load_state_dict(torch.load("net.pt", map_location="cpu"))
net.to(device)
net.load_state_dict(torch.load("net.pt", map_location="cpu", weights_only=True))
print(net(torch.rand(1, 3, device=device)))
