"""What is no torch.device is taken for a list of devices, and the data goes to cuda:0.

Needs torch and three GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks for a list of devices and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class BaseModel:
    def __init__(self, device, variant):
        self.device, self.variant = device, variant
        self.model = nn.Linear(3, 3).to(self.device)

    def _send_data_to_given_device(self, data):
        several = not isinstance(self.device, torch.device)
        if self.variant == "fixed":
            several = isinstance(self.device, list)
        if several:  # the DataParallel of several devices starts at the first GPU
            return [x.cuda() for x in data]
        return [x.to(self.device) for x in data]

    def impute(self, data):
        X, missing_mask = self._send_data_to_given_device(data)
        return self.model(X * missing_mask)


def main(variant):
    torch.manual_seed(0)
    saits = BaseModel("cuda:2", variant)
    imputed = saits.impute([torch.randn(4, 3), torch.ones(4, 3)])
    assert imputed.device == torch.device("cuda:2")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
