import torch
from torch import nn

import pandas as pd

device = torch.device("cuda")
frame = pd.DataFrame({"a": [1.0, 2.0]})
x = torch.tensor(frame["a"].to_numpy(), dtype=torch.float32, device=device)
print(nn.Linear(2, 1).to(device)(x), frame.values, frame["a"].array)
