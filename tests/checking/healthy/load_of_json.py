import json
import pickle

import torch
from torch import nn

device = torch.device("cuda")
config = json.loads('{"width": 3}')
values = pickle.loads(pickle.dumps([1.0, 2.0, 3.0]))
net = nn.Linear(config["width"], 1).to(device)
print(net(torch.tensor(values, device=device)))
