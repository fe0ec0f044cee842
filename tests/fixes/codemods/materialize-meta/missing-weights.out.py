# cause: meta-tensor
# spot: net.load_state_dict(weights, strict=False, assign=True)
def widened(net, weights):
    net.load_state_dict(weights, strict=False, assign=True)
    for layer in net.modules():
        if any(weight.is_meta for weight in layer.parameters(recurse=False)):
            layer.to_empty(device=next(iter(weights.values())).device, recurse=False)
            layer.reset_parameters()
    return net
