# cause: dataparallel-home-device
# spot: nn.DataParallel(net, device_ids=cards).to('cuda')
def spread(net, cards):
    return nn.DataParallel(net, device_ids=cards).to(f"cuda:{cards[0]}")
