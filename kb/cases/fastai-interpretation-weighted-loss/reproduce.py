"""A loss whose class weights are on the GPU is called with what has been gathered on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the loss to the cpu for that call and prints "fixed: ok".
"""

import copy
import sys

import torch
from torch import nn


class Learner:
    def __init__(self, model, loss_func, device):
        self.model = model.to(device)
        self.loss_func = loss_func.to(device)
        self.device = device

    def fit_one_cycle(self, xb, yb):
        self.loss_func(self.model(xb.to(self.device)), yb.to(self.device)).backward()

    def get_preds(self, valid):
        """Predictions and targets of all batches, gathered on the cpu."""
        with torch.no_grad():
            preds = [self.model(xb.to(self.device)).cpu() for xb, _ in valid]
        return torch.cat(preds), torch.cat([yb for _, yb in valid])


def from_learner(learn, valid, variant):
    loss_func = learn.loss_func
    if variant == "fixed":
        loss_func = copy.deepcopy(loss_func).cpu()
    preds, y_true = learn.get_preds(valid)
    return loss_func(preds, y_true)


def main(variant):
    torch.manual_seed(0)
    valid = [(torch.randn(4, 8), torch.randint(3, (4,))) for _ in range(2)]
    loss_func = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0]))
    learn = Learner(nn.Linear(8, 3), loss_func, torch.device("cuda:0"))
    learn.fit_one_cycle(*valid[0])
    from_learner(learn, valid, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
