"""The counts of a metric are on the cpu, the predictions that are to be counted on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error,
``python reproduce.py fixed`` moves the metric and prints "fixed: ok".
``Metric`` has of torchmetrics' its state as buffers and the sentence around torch's own error.
"""

import functools
import sys

import torch
from torch import nn


class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self.update = self._wrap_update(self.update)

    def forward(self, preds, target):
        self.update(preds, target)
        return self.compute()

    def _wrap_update(self, update):
        @functools.wraps(update)
        def wrapped_func(*args, **kwargs):
            try:
                update(*args, **kwargs)
            except RuntimeError as err:
                if "Expected all tensors to be on" not in str(err):
                    raise
                name = type(self).__name__
                raise RuntimeError(
                    "Encountered different devices in metric calculation (see stacktrace for"
                    " details). This could be due to the metric class not being on the same device"
                    f" as input. Instead of `metric={name}(...)` try to do `metric={name}(...)"
                    ".to(device)` where device corresponds to the device of the input."
                ) from err

        return wrapped_func


class Accuracy(Metric):
    def __init__(self):
        super().__init__()
        self.register_buffer("correct", torch.tensor(0))
        self.register_buffer("total", torch.tensor(0))

    def update(self, preds, target):
        self.correct += (preds.argmax(1) == target).sum()
        self.total += target.numel()

    def compute(self):
        return self.correct / self.total


def main(variant):
    preds = torch.tensor([[0.6, 0.9], [0.1, 0.6]])
    target = torch.tensor([1, 1])
    accuracy = Accuracy()
    if variant == "fixed":
        accuracy.to("cuda:0")
    accuracy(preds.cuda(), target.cuda())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
