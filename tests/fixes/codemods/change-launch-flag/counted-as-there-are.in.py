# spot: f"cuda:{card}"
# cause: hardcoded-device
import torch

for card in range(torch.cuda.device_count()):
    place = f"cuda:{card}"
