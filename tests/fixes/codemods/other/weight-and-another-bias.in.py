# cause: offloaded-to-cpu
# spot: proj.weight
def embed(proj, shift, x):
    return F.linear(x, proj.weight, shift)
