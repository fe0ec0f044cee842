"""A change of type sends a tensor to the default GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` changes the type by .to() and prints "fixed: ok".
"torch.cuda.LongTensor" names a type and a kind of device, and no number: the current GPU is meant.
"""

import sys

import torch


class ConfusionMatrix:
    def __init__(self, num_classes, variant):
        self.num_classes = num_classes
        self.confusion_matrix = torch.zeros(num_classes, num_classes)
        self.variant = variant

    def update(self, output):
        y_pred, y = output
        y_pred = y_pred.argmax(dim=1)
        target_mask = (y >= 0) & (y < self.num_classes)
        indices = self.num_classes * y[target_mask] + y_pred[target_mask]
        m = torch.bincount(indices, minlength=self.num_classes**2)
        if self.variant == "fixed":
            self.confusion_matrix = self.confusion_matrix.to(device=m.device, dtype=m.dtype)
        else:
            self.confusion_matrix = self.confusion_matrix.type(m.type())
        self.confusion_matrix += m.reshape(self.num_classes, self.num_classes)

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
