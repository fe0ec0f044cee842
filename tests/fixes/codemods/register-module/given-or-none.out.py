# cause: unregistered-submodule
# spot: self.gauges = gauges if gauges is not None else []
# name: self.gauges
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, gauges=None):
        super().__init__()
        self.gauges = nn.ModuleList(gauges if gauges is not None else [])
