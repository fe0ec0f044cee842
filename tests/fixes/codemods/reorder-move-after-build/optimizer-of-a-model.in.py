# spot: choose(net)
# cause: optimizer-state
# owner: net
def main(net, device):
    steps = choose(net)
    return steps
