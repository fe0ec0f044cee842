# cause: module-not-moved
# spot: parameter scorer
# name: scorer
def rate(scorer, rows, device):
    return [row.to(device) for row in rows]
