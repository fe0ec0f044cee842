import sys

import torch

scores = torch.ones(3, device="cuda:0")
if sys.argv[1] == "fixed":
    scores = scores.cpu()
scores.numpy()
