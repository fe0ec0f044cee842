"""A device that is given as a string is taken for a list of devices, and the data goes to cuda:0.

Needs torch and three GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes a torch.device of the string and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class BaseModel:
    def __init__(self, device, variant):
        self.device = device if variant == "failing" else torch.device(device)
        self.model = nn.Linear(3, 3).to(self.device)

    def _send_data_to_given_device(self, data):
        if isinstance(self.device, torch.device):  # single device
            return [x.to(self.device) for x in data]
        # several devices, whose DataParallel starts at the first GPU
        return [x.cuda() for x in data]

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
