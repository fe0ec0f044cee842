# spot: grouped.parts
# cause: cross-shard-op
# devices: grouped.parts.device
def total(grouped):
    return torch.stack(grouped.parts).sum()
