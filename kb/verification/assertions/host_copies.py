import torch


def assertion(values, where):
    """NumPy and other host code get tensors of the cpu: check(values=values)."""
    for name, value in values.items():
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            return f"FAIL: {name} is on {value.device}; {name}.detach().cpu() is for NumPy"
