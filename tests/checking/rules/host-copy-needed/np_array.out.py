import numpy as np
import torch

device = torch.device("cuda:0")
x = torch.rand(5).to(device)
a = np.array(x.detach().cpu())  # finds: host-copy-needed
