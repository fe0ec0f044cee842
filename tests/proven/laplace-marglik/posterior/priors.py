import torch


def expanded(precision, model):
    """A precision for each parameter, of one for all of them."""
    count = sum(p.numel() for p in model.parameters())
    return torch.ones(count, device=precision.device) * precision
