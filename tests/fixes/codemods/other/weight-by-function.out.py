# cause: offloaded-to-cpu
# spot: tower.proj.weight
def embed(tower, pooled):
    return tower.proj(pooled.float())
