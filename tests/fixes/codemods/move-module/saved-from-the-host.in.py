# spot: network.cpu()
# cause: dataparallel-home-device
import torch
from torch import nn


def keep(model, path):
    network = model.module
    torch.save({"net": network.cpu().state_dict()}, path)
