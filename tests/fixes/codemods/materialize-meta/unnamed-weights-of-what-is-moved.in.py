# cause: meta-tensor
# spot: net.load_state_dict(torch.load(path), strict=False, assign=True)
# meets: net.to(place)
import torch


def widened(net, path, place):
    net.load_state_dict(torch.load(path), strict=False, assign=True)
    return net.to(place)
