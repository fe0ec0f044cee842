# spot: choose(net)
# cause: optimizer-state
# owner: net
# devices: accelerator.device
def main(accelerator, rows):
    net = Net()
    net.to(accelerator.device)
    steps = choose(net)
    loader = DataLoader(rows)
    net, loader = accelerator.prepare(net, loader)
