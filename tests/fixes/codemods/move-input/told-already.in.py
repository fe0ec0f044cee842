# spot: update_bn(loader, average, device)
# name: loader
from torch.optim.swa_utils import update_bn


def finish(loader, average, device):
    update_bn(loader, average, device)
