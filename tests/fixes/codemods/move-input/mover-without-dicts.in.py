# spot: return batch
def move(batch, device):
    if isinstance(batch, Sequence):
        return [move(v, device=device) for v in batch]
    if hasattr(batch, "to"):
        return batch.to(device)
    return batch
