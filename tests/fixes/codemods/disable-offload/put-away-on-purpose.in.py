# cause: offloaded-to-cpu
# spot: copy.deepcopy(net).cpu()
import copy


def keep(net):
    best = copy.deepcopy(net).cpu()
    return best
