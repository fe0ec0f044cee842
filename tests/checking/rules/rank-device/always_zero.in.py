import os

import torch
from torch import nn
from torch.distributed import init_process_group
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, model):
        self.gpu = int(os.environ["LOCAL_RANK"])
        self.model = DistributedDataParallel(model.to(self.gpu), device_ids=[self.gpu])

    def run(self, x):
        x = x.to("cuda:0")  # finds: rank-device|hardcoded-device
        return self.model(x)


init_process_group("nccl")
trainer = Trainer(nn.Linear(3, 3))
trainer.run(torch.rand(2, 3))
