import functools

import torch


def scripted_if_traced(function):
    """The function, or its script while a model is traced."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if not torch.jit.is_tracing():
            return function(*args, **kwargs)
        return torch.jit.script(function)(*args, **kwargs)

    return wrapper
