import numpy as np
import torch


def to_tensor(X, device):
    """Arrays, tensors and lists of them, as tensors on a device."""
    if isinstance(X, torch.Tensor):
        return X.to(device)
    if isinstance(X, list | tuple):
        return [to_tensor(one, device=device) for one in X]
    if isinstance(X, np.ndarray):
        return torch.as_tensor(X, device=device)
    raise TypeError(f"cannot convert {type(X)}")
