# A variable that one of two losses is bound to hides the loss of the file that has its name.
import sys

import torch
from torch import nn

criterion = nn.CrossEntropyLoss(weight=torch.ones(3))


def step(model, rows, wanted):
    if "l1" in sys.argv:
        criterion = nn.L1Loss()
    else:
        criterion = nn.MSELoss()
    return criterion(model(rows), wanted)


model = nn.Linear(2, 3).to("cuda")
print(step(model, torch.ones(4, 2, device="cuda"), torch.ones(4, 3, device="cuda")))
print(criterion(torch.ones(4, 3), torch.tensor([0, 1, 2, 0])))
