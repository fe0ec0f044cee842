# cause: cross-shard-op
# spot: norms
# devices: norms.device
def size(norms):
    return sum(norms) ** 0.5
