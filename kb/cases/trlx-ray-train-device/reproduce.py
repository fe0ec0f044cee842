"""Ray Train and accelerate choose different GPUs for the same process.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` tells accelerate the GPU that the worker was given and prints
"fixed: ok". The process plays a worker with local rank 0 that Ray has put on the second GPU;
``Accelerator`` chooses its device as accelerate does.
"""

import os
import sys

import torch
from torch import nn

LOCAL_RANK = 0


def get_device():
    """The GPU that Ray gave to this worker: not always the one with the number of its rank."""
    return torch.device("cuda:1")


class Accelerator:
    def __init__(self):
        chosen = os.environ.get("ACCELERATE_TORCH_DEVICE")
        self.device = torch.device(chosen or f"cuda:{LOCAL_RANK}")

    def prepare(self, model):
        return model.to(self.device)


def train_loop_per_worker():
    device = get_device()
    accelerator = Accelerator()
    model = accelerator.prepare(nn.Sequential(nn.Embedding(16, 8), nn.Linear(8, 2)))
    input_ids = torch.randint(16, (2, 5)).to(device)
    model(input_ids).sum().backward()


def main(variant):
    torch.manual_seed(0)
    os.environ.pop("ACCELERATE_TORCH_DEVICE", None)
    if variant == "fixed":
        os.environ["ACCELERATE_TORCH_DEVICE"] = str(get_device())
    train_loop_per_worker()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
