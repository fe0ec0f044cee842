import numpy as np
import torch
from forces.predict import Forces

random = np.random.default_rng(0)
forces = Forces(random.normal(size=(12, 6)))
forces.set_derivatives(random.normal(size=(12, 6, 3)))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
forces = forces.to(device)
train_idxs = torch.arange(12, device=device)
_, found = forces(train_idxs)
print(found.shape)
