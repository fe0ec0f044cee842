# cause: dataparallel-home-device
# spot: net.cuda()
def spread(net, other, cards):
    return net.cuda(), nn.DataParallel(other, device_ids=cards)
