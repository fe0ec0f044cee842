import torch
from snippet import devices


def assertion(values, where):
    """What a module holds without registering it is where its parameters are, or its inputs."""
    models = [value for value in values.values() if isinstance(value, torch.nn.Module)]
    for module in [module for model in models for module in model.modules()]:
        plain = devices({k: v for k, v in vars(module).items() if k[0] != "_"}, "self")
        if plain.keys() - (devices(module, "") or devices(values, "")).keys():
            return f"FAIL: .to() does not reach {plain} of {type(module).__name__}: register it"
