# cause: dataparallel-home-device
# spot: nn.DataParallel(module=net, device_ids=cards)
def spread(net, cards):
    return nn.DataParallel(module=net.to(f"cuda:{cards[0]}"), device_ids=cards)
