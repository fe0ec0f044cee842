# Nobody says that what is given is on a GPU.
import numpy as np


def spread(values, place):
    values = values.to(place.device)
    return np.take(values.numpy(), [0, 1])
