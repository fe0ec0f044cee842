"""An optimizer keeps matrices outside optimizer.state, where load_state_dict does not move them.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the matrices in load_state_dict and prints "fixed: ok".
``SIRFShampoo`` has of its namesake only what matters: matrices that belong to a parameter group.
"""

import io
import sys

import torch
from torch import nn


class SIRFShampoo(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, synchronize=False):
        super().__init__(params, {"lr": lr})
        self.synchronize = synchronize
        self.preconditioner = [
            [torch.eye(p.shape[0], device=p.device) for p in group["params"]]
            for group in self.param_groups
        ]

    def state_dict(self):
        return {**super().state_dict(), "preconditioner": self.preconditioner}

    def load_state_dict(self, state_dict):
        self.preconditioner = state_dict.pop("preconditioner")
        super().load_state_dict(state_dict)
        if self.synchronize:
            for number, group in enumerate(self.param_groups):
                matrices = zip(self.preconditioner[number], group["params"], strict=True)
                self.preconditioner[number] = [k.to(p.device) for k, p in matrices]

    @torch.no_grad()
    def step(self):
        for number, group in enumerate(self.param_groups):
            for k, p in zip(self.preconditioner[number], group["params"], strict=True):
                p.add_(k @ p.grad, alpha=-group["lr"])


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = nn.Linear(3, 2, bias=False).to(device)
    optimizer = SIRFShampoo(model.parameters(), synchronize=variant == "fixed")

    checkpoint = io.BytesIO()
    torch.save(optimizer.state_dict(), checkpoint)
    checkpoint.seek(0)
    optimizer.load_state_dict(torch.load(checkpoint, map_location="cpu", weights_only=False))

    model(torch.randn(4, 3, device=device)).pow(2).mean().backward()
    optimizer.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
