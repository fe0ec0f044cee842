# spot: copy.deepcopy(online)
# devices: device; "cuda:0"
def pair(online, device):
    target = copy.deepcopy(online).to(device)
    return online.to(device), target
