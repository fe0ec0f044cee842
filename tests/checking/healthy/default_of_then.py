import numpy as np
import torch

gpu = "cuda" if torch.cuda.is_available() else "cpu"
ages = torch.linspace(0, 1, 9)


def spread(values=ages, factor=2.0):
    return float(np.std(np.asarray(values)) * factor)


ages = ages.to(gpu)
print(spread(factor=3.0), ages.sum().item())
