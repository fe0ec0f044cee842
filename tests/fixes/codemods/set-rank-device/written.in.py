# spot: "cuda:0"
import os

import torch

world = int(os.environ["WORLD_SIZE"]), os.environ["LOCAL_RANK"]
ds = ds.with_format("torch", device="cuda:0")
