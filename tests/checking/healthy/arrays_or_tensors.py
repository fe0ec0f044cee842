# What NumPy's functions are given may be an array: nothing says that it is a tensor.
import numpy as np


class Report:
    def __init__(self, net, device):
        self.net = net.to(device)

    def spread(self, found):
        found = found.reshape(-1)
        return np.abs(found).max(), found.sum()
