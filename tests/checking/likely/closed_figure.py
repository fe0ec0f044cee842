# What a model of one's own gives may be a figure: closing it reads no tensor, plotting would.
import matplotlib.pyplot as plt
import torch
from torch import nn

sketcher = nn.Linear(4, 4).cuda()
drawn = sketcher(torch.rand(2, 4, device="cuda"))  # finds: host-copy-needed
plt.close(drawn)
