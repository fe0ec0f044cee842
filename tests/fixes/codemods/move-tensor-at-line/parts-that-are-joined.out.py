# spot: grouped.parts
# cause: cross-shard-op
# devices: grouped.parts.device
def total(grouped):
    return torch.stack([part.to(grouped.parts[0].device) for part in grouped.parts]).sum()
