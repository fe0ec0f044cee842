"""Every process loads its model to cuda:0, and FSDP is told the GPU of the rank.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` binds the process to its GPU first and prints "fixed: ok".
One process plays the second of two: its local rank is 1, but the group has only itself.
"""

import sys
import warnings

import torch
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel

LOCAL_RANK = 1


def load_model(device):
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)


def prepare_model(model):
    return FullyShardedDataParallel(model, device_id=LOCAL_RANK)


def main(variant):
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    if variant == "fixed":
        torch.cuda.set_device(LOCAL_RANK)
    # "cuda" is the current GPU, and that is number 0 until the process says otherwise.
    model = prepare_model(load_model("cuda"))
    with torch.no_grad():
        model(torch.randn(4, 8, device="cuda"))
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
