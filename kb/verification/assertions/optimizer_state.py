import torch
from snippet import devices


def assertion(values, where):
    """Gradients and state are where their parameter is: check(optimizer=optimizer)."""
    optimizers = [one for one in values.values() if isinstance(one, torch.optim.Optimizer)]
    for parameter, state in [pair for one in optimizers for pair in one.state.items()]:
        found = devices({**state, "step": 0, "grad": parameter.grad}, "its")
        if found.keys() - {str(parameter.device)}:
            return f"FAIL: {found}, its parameter on {parameter.device}"
