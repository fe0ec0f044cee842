"""A change of type sends a tensor to the default GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` changes the type by .to() and prints "fixed: ok".
"torch.cuda.LongTensor" names a type and a kind of device, and no number: the current GPU is meant.
"""

import sys

import torch
from torch.nn.functional import one_hot


class ConfusionMatrix:
    def __init__(self, num_classes, variant):
        self.num_classes = num_classes
        self.confusion_matrix = torch.zeros(num_classes, num_classes)
        self.variant = variant

    def update(self, output):
        y_pred, y = output
        truth = one_hot(y, self.num_classes)
        chosen = one_hot(y_pred.argmax(dim=1), self.num_classes)
        counts = (truth[:, :, None] * chosen[:, None, :]).sum(dim=0)
        if self.variant == "fixed":
            self.confusion_matrix = self.confusion_matrix.to(counts)
        else:
            self.confusion_matrix = self.confusion_matrix.type(counts.type())
        self.confusion_matrix += counts

    def compute(self):
        return self.confusion_matrix


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:1")
    cm = ConfusionMatrix(num_classes=3, variant=variant)
    for _ in range(2):
        cm.update((torch.randn(5, 3, device=device), torch.randint(3, (5,), device=device)))
    print(cm.compute())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
