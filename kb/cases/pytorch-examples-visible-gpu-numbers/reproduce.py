"""Numbers from CUDA_VISIBLE_DEVICES are used again as numbers of GPUs.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the error about the ordinal,
``python reproduce.py fixed`` counts from zero and prints "fixed: ok". ``ENVIRON`` plays the
process's environment, which CUDA read before; the first process is played.
"""

import sys

import torch
from torch import nn

ENVIRON = {}


def main_worker(local_rank, variant):
    chosen = [int(number) for number in ENVIRON["CUDA_VISIBLE_DEVICES"].split(",")]
    gpu = chosen[local_rank] if variant == "failing" else local_rank
    torch.cuda.set_device(gpu)
    model = nn.Linear(4, 2).cuda(gpu)
    loss = model(torch.randn(8, 4).cuda(gpu)).pow(2).mean()
    loss.backward()


def main(variant):
    # --gpu_id: the last GPUs of a machine that has four more than are visible here.
    visible = torch.cuda.device_count()
    ENVIRON["CUDA_VISIBLE_DEVICES"] = ",".join(str(4 + n) for n in range(visible))
    main_worker(0, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
