# spot: DataLoader(rows, batch_size=4, shuffle=True)
# devices: ;
# wanted: cuda:0
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")
loader = DataLoader(rows, batch_size=4, shuffle=True)
