import torch


def assertion(values, where):
    """A model that is split over devices gets its inputs on the first of them."""
    for name in [name for name in where if isinstance(values[name], torch.nn.Module)]:
        first = next(iter(where[name]))  # the device of its first parameter
        for other, found in where.items():
            if first not in found:
                return f"FAIL: {other} is on {found}, {name} begins on {first}: {where[name]}"
