"""A summary is made with GPU input for a model that nobody has moved yet.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the model before the summary and prints "fixed: ok".
A LightningModule begins on the cpu like any module; the Trainer moves it when training begins, and
a summary comes before that.
"""

import sys

import torch
from torch import nn


class LitClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_1 = nn.Conv2d(1, 4, kernel_size=3)
        self.layer_2 = nn.Linear(4, 10)

    def forward(self, x):
        x = torch.relu(self.layer_1(x))
        return self.layer_2(x.mean(dim=(2, 3)))


def summary(model, input_size):
    """Shapes of the outputs of ``model``'s children for a batch of two."""
    shapes = {}
    hooks = [
        module.register_forward_hook(
            lambda module, inputs, output, name=name: shapes.update({name: tuple(output.shape)})
        )
        for name, module in model.named_children()
    ]
    dtype = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
    model(torch.rand(2, *input_size).type(dtype))
    for hook in hooks:
        hook.remove()
    return shapes


def main(variant):
    model = LitClassifier()
    if variant == "fixed":
        model.cuda()
    print(summary(model, (1, 12, 12)), file=sys.stderr)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
