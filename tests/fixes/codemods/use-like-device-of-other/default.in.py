# spot: "cuda:0"
# devices: wanted.device
# wanted: cuda:1
import torch


def rows(wanted, device="cuda:0"):
    return torch.zeros(len(wanted), device=device).to(wanted.dtype)
