"""FSDP's gathered parameter is allocated on the current GPU, which nobody has set to the rank's.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in FSDP's error,
``python reproduce.py fixed`` sets the current GPU and prints "fixed: ok".
A real run needs two processes and NCCL; the process group here only counts two ranks and moves
nothing. FSDP and its check are torch's. ``alloc_storage`` does what an older torch did when freed
memory was to grow again (``resize_bytes_cuda``): it takes it from the current GPU.
"""

import sys
import traceback

import torch
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import _flat_param
from torch.testing._internal.distributed.fake_pg import FakeStore

LOCAL_RANK = 1


def alloc_storage(tensor, size):
    tensor.data = torch.zeros(size, device="cuda")


def main(variant):
    torch.manual_seed(0)
    traceback.print_stack = lambda: None  # FSDP prints its stack before it raises
    _flat_param._alloc_storage = alloc_storage
    distributed.init_process_group("fake", store=FakeStore(), rank=LOCAL_RANK, world_size=2)
    device = torch.device("cuda", LOCAL_RANK)
    model = nn.Linear(8, 4)
    model.to(device)
    model = FSDP(model, device_id=LOCAL_RANK)
    if variant == "fixed":
        torch.cuda.set_device(device)
    output = model(torch.randn((1, 8), device=device))
    print("output on", output.device)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
