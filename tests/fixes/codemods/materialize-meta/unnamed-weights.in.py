# cause: meta-tensor
# spot: net.load_state_dict(torch.load(path), strict=False, assign=True)
import torch


def widened(net, path):
    net.load_state_dict(torch.load(path), strict=False, assign=True)
    return net
