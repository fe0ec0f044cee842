# cause: dataparallel-home-device
# spot: net.cuda()
def spread(net, cards):
    return nn.DataParallel(module=net.to(f"cuda:{cards[0]}").train(), device_ids=cards)
