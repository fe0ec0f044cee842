# spot: copy.deepcopy(online)
# devices: device; "cuda:0"
def pair(online, device):
    target = copy.deepcopy(online)
    return online.to(device), target
