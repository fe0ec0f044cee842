import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
with torch.no_grad():
    out = net(torch.rand(3, 4, device=device))
print(out.argmax(1).cpu().numpy())  # finds: host-copy-needed
