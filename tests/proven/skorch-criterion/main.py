import torch
from fitting.classifier import Classifier
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
module = nn.Sequential(nn.Linear(6, 3), nn.Softmax(dim=1))
net = Classifier(module, device=device, criterion__weight=torch.tensor([1.0, 2.0, 3.0]))
print(net.fit(torch.randn(12, 6), torch.arange(12) % 3))
