"""One of the processes of a training: the second, where there are two GPUs."""

import os
import tempfile

import torch
from flows.training import train

if torch.cuda.device_count() > 1:
    os.environ["LOCAL_RANK"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"file://{folder}/meeting"
        torch.distributed.init_process_group("gloo", init_method=meeting, rank=0, world_size=1)
        train(rank=int(os.environ["LOCAL_RANK"]), parallel=True)
        torch.distributed.destroy_process_group()
else:
    train(rank=torch.device("cpu"), parallel=False)
