# cause: dataparallel-home-device
# spot: net.cuda()
def spread(net, cards):
    spare = nn.DataParallel(Net())
    return nn.DataParallel(net.cuda(), device_ids=cards)
