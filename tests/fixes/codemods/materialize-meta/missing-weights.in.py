# cause: meta-tensor
# spot: net.load_state_dict(weights, strict=False, assign=True)
def widened(net, weights):
    net.load_state_dict(weights, strict=False, assign=True)
    return net
