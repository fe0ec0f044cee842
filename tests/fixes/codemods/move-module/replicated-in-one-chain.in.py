# cause: dataparallel-home-device
# spot: net.cuda()
def spread(net, cards):
    return nn.DataParallel(module=net.cuda().train(), device_ids=cards)
