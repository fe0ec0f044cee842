import torch
from orchid_net import orchid_net

torch.save(orchid_net().cuda().state_dict(), "orchids.pt")
