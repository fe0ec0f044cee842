"""The global rank is taken for the number of the GPU, which the second machine does not have.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` counts the GPUs of this machine anew and prints "fixed: ok".
The process plays the first one of the second machine: its global rank equals the number of GPUs
that each machine has.
"""

import os
import sys

import torch


def build_model(rank):
    torch.cuda.set_device(rank)
    return torch.nn.Linear(4, 4).cuda()


def main(variant):
    gpus = torch.cuda.device_count()
    os.environ.update(RANK=str(gpus), WORLD_SIZE=str(2 * gpus))
    rank = int(os.environ["RANK"])
    if variant == "fixed":
        rank %= gpus
    model = build_model(rank)
    model(torch.randn(2, 4).cuda()).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
