# cause: rank-device
# spot: self.local_rank = int(os.environ.get("LOCAL_RANK", 0))
# devices: ;
import os

import torch


class Process:
    def __init__(self):
        self.local_rank = int(os.environ.get("LOCAL_RANK", 0))
        self.device = torch.device("cuda", self.local_rank) if torch.cuda.is_available() else "cpu"
