import torch
from torch import nn

device = torch.device("cuda")
net = nn.Linear(4, 2).to(device)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0]))
out = net(torch.rand(3, 4, device=device)).cpu()
print(criterion(out, torch.tensor([0, 1, 1])))
