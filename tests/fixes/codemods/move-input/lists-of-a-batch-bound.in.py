# cause: input-not-moved
# spot: out[key] = value.to(device) if isinstance(value, torch.Tensor) else value
import torch


def send(batch, device):
    out = {}
    for key, value in batch.items():
        out[key] = value.to(device) if isinstance(value, torch.Tensor) else value  # the rest stays
    return out
