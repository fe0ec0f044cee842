# cause: cross-shard-op
# spot: norms
# devices: norms.device
def size(norms):
    return sum([part.to(norms[0].device) for part in norms]) ** 0.5
