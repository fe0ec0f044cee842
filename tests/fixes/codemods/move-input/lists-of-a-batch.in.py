# cause: input-not-moved
# spot: return {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items()}
import torch


def send(batch, device):
    # numbers, names and views
    return {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items()}
