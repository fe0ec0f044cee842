import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
seen = []
totals = torch.zeros(2, device="cpu")
for _ in range(3):
    out = net(torch.rand(5, 4, device=device))
    totals += out.detach().sum(0).cpu()
    seen.append(out.argmax(1).cpu())
labels = torch.randint(0, 2, (15,), device="cpu")
print((torch.cat(seen) == labels).float().mean(), totals)
