import torch
from snippet import devices


def assertion(values, where):
    """An index or mask is with the tensor that it indexes: check(index=index, tensor=tensor)."""
    tensors = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
    for name, index in tensors.items():
        if not index.is_floating_point() and len(devices(tensors, "")) > 1:
            return f"FAIL: index {name} is on {index.device}, apart from {where}"
