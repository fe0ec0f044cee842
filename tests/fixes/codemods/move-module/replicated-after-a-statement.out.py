# spot: net.cuda()
# cause: dataparallel-home-device
from torch import nn


def build(opt):
    net = nn.Linear(2, 2)
    if opt.gpus:
        net.to(f"cuda:{opt.gpus[0]}")
        net = nn.DataParallel(net, opt.gpus)
    return net
