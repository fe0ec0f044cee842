# cause: meta-tensor
# spot: torch.device("meta")
# devices: ;
import torch


def build():
    with torch.device("cpu"):
        return torch.nn.Linear(2, 2)
