# cause: device-map-under-training
# spot: nn.DataParallel(net)
def launch(net, devices):
    if len(devices) > 1:
        pass
    return net
