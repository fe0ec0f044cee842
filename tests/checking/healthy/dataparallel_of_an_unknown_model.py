import importlib

import torch
from torch import nn

# DataParallel brings what it is handed to its first GPU, whatever it has wrapped.
parts = importlib.import_module("torch.nn")
net = nn.DataParallel(parts.Bilinear(4, 4, 2)).to("cuda")
net(torch.rand(3, 4).to("cuda"), torch.rand(3, 4)).sum().backward()
