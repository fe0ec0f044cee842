# spot: network.cpu()
# cause: dataparallel-home-device
import torch
from torch import nn


def keep(model, path):
    network = model.module
    torch.save(network.cpu().state_dict(prefix="net."), path)
