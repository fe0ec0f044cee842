# spot: network.cpu()
# cause: dataparallel-home-device
import torch
from torch import nn


def keep(model, path):
    network = model.module
    torch.save({"net": {key: value.cpu() for key, value in network.state_dict().items()}}, path)
