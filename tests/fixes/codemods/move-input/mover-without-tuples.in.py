# spot: return batch
def move(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {k: move(v, device) for k, v in batch.items()}
    if isinstance(batch, list):  # of tensors
        return [move(v, device) for v in batch]
    return batch
