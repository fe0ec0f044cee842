# cause: cross-shard-op
# spot: x
# name: x
# devices: "cuda:1"
# meets: block(x)
def run(blocks, x):
    for block in blocks:
        x = block(x.to(next(block.parameters()).device))
