# cause: dataparallel-home-device
# spot: net.cuda()
def spread(net, cards):
    spare = nn.DataParallel(Net())
    return nn.DataParallel(net.to(f"cuda:{cards[0]}"), device_ids=cards)
