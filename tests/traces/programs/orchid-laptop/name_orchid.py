"""Names an orchid on a laptop."""

import torch
from orchid_net import orchid_net

net = orchid_net()
net.load_state_dict(torch.load("orchids.pt", weights_only=True))
print(net.eval()(torch.rand(1, 3, 64, 64)).argmax().item())
