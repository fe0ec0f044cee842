# spot: make(width).cuda()
# cause: dataparallel-home-device
import torch
from torch import nn


def build(ids, width):
    net = make(width).cuda()
    return nn.DataParallel(net, device_ids=ids)
