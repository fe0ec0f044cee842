# A layer that one branch moves is where it was for the other one.
import sys

import torch
from torch import nn

scorer = nn.Linear(3, 1)
if "--card" in sys.argv:
    scorer.cuda()
    print(scorer(torch.rand(4, 3, device="cuda")))
else:
    print(scorer(torch.rand(4, 3)))
