import torch


def assertion(values, where):
    """The parameters and buffers of a model are on one device."""
    for name, found in where.items():
        if isinstance(values[name], torch.nn.Module) and len(found) > 1:
            return f"FAIL: parts of {name} are left behind: {found}"
