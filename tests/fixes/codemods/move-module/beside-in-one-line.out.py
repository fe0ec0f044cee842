# spot: accelerator.prepare(net)
# cause: module-not-moved
# name: average
# owner: average
def train(accelerator, net):
    average = EMAModel(net.parameters())
    average.to(accelerator.device)
    net = accelerator.prepare(net); average.step(net.parameters())
    return net, average
