import sys

import torch

labels = torch.arange(4)
mask = torch.ones(4, dtype=torch.bool, device="cuda:0")
if sys.argv[1] == "fixed":
    mask = mask.cpu()
labels[mask]
