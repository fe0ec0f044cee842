# cause: meta-tensor
# spot: net.load_state_dict(torch.load(path), strict=False, assign=True)
# meets: net.to(place)
import torch


def widened(net, path, place):
    net.load_state_dict(torch.load(path), strict=False, assign=True)
    for layer in net.modules():
        if any(weight.is_meta for weight in layer.parameters(recurse=False)):
            layer.to_empty(device="cpu", recurse=False)
            layer.reset_parameters()
    return net.to(place)
