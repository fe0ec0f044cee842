# spot: return batch
def move(batch):
    if isinstance(batch, collections.abc.Mapping):
        return {k: move(v) for k, v in batch.items()}
    if torch.is_tensor(batch):
        return batch.to(device)
    if isinstance(batch, (list, tuple)):
        return type(batch)(move(v) for v in batch)
    return batch
