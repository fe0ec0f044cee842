"""A model is validated on the cpu between two trainings on the GPU, and its optimizer is not told.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends the optimizer's state after the model and prints "fixed: ok".
In OpenFL each task gets the model by itself; weights go through NumPy between them.
"""

import sys

import torch
from torch import nn


def optimizer_to(optimizer, device):
    for state in optimizer.state.values():
        for key, value in state.items():
            if torch.is_tensor(value) and value.dim() > 0:
                state[key] = value.to(device)


class TaskRunner:
    """Keeps model and optimizer, and sets their tensors from the aggregated ones."""

    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def get_tensors(self):
        state = self.optimizer.state_dict()["state"]
        return {i: {k: v.cpu().numpy() for k, v in s.items()} for i, s in state.items()}

    def set_tensors(self, tensors):
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        for index, state in tensors.items():
            p = parameters[index]
            self.optimizer.state[p] = {k: torch.as_tensor(v).to(p.device) for k, v in state.items()}


def train(net_model, optimizer, device, variant):
    net_model.train()
    net_model.to(device)
    if variant == "fixed":
        optimizer_to(optimizer, device)
    optimizer.zero_grad()
    net_model(torch.randn(4, 3, device=device)).pow(2).mean().backward()
    optimizer.step()


@torch.no_grad()
def validate(net_model, device):
    net_model.eval()
    net_model.to(device)
    return net_model(torch.randn(4, 3, device=device)).pow(2).mean().item()


def main(variant):
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    runner = TaskRunner(model, torch.optim.Adam(model.parameters()))
    for _ in range(2):
        validate(model, torch.device("cpu"))
        runner.set_tensors(runner.get_tensors())
        train(model, runner.optimizer, torch.device("cuda"), variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
