import torch
from snippet import devices


def assertion(values, where):
    """What a model is called with is on a device of the model."""
    models = {name: value for name, value in values.items() if isinstance(value, torch.nn.Module)}
    for found in where.values():
        if models and found.keys() - devices(models, "").keys():
            return f"FAIL: {found}, the model on {devices(models, 'its')}"
