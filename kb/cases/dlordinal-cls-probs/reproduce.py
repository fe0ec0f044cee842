"""A loss looks its soft labels up in a table that stayed on the cpu with it.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the loss and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.nn.functional import one_hot


class CustomTargetsLoss(nn.Module):
    def __init__(self, base_loss, cls_probs, eta):
        super().__init__()
        self.base_loss = base_loss
        self.num_classes = len(cls_probs)
        self.eta = eta
        self.register_buffer("cls_probs", cls_probs)

    def forward(self, input, target):
        y_prob = self.get_buffer("cls_probs")[target]
        target_oh = one_hot(target, self.num_classes)
        y_true = (1.0 - self.eta) * target_oh + self.eta * y_prob
        return self.base_loss(input, y_true)


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = nn.Linear(8, 4).to(device)
    distances = (torch.arange(4)[:, None] - torch.arange(4)).abs()
    loss_fn = CustomTargetsLoss(nn.CrossEntropyLoss(), (-distances.float()).softmax(1), eta=0.8)
    if variant == "fixed":
        loss_fn.to(device)
    y_pred = model(torch.randn(6, 8, device=device))
    loss_fn(y_pred, torch.randint(4, (6,), device=device)).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
