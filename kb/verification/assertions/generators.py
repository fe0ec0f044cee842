import torch


def assertion(values, where):
    """A random generator is on the device that it draws for: check(generator=generator, x=x)."""
    for name, value in values.items():
        if isinstance(value, torch.Generator):
            others = {n: found for n, found in where.items() if str(value.device) not in found}
            if others:
                return f"FAIL: generator {name} is on {value.device}, apart from {others}"
