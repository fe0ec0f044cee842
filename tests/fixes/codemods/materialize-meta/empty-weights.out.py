# spot: init_empty_weights()
import torch
with torch.device(device):
    model = Net()
