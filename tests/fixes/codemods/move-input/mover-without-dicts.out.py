# spot: return batch
def move(batch, device):
    if isinstance(batch, Sequence):
        return [move(v, device=device) for v in batch]
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, dict):
        return {k: move(v, device=device) for k, v in batch.items()}
    return batch
