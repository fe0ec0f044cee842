import numpy as np
import torch
from torch import nn

device = "cuda:0"
counts = np.array([5, 20], dtype=np.float32)
class_weights = torch.from_numpy(counts.sum() / counts)
net = nn.Sequential(nn.Linear(3, 2), nn.LogSoftmax(dim=1)).to(device)
criterion = torch.nn.NLLLoss(class_weights)  # finds: loss-or-metric-state
out = net(torch.rand(2, 3).to(device))
print(criterion(out, torch.tensor([1, 0]).to(device)))
