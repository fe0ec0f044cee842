# cause: offloaded-to-cpu
# spot: tower.proj.weight
def embed(tower, pooled):
    return F.linear(pooled.float(), tower.proj.weight, tower.proj.bias)
