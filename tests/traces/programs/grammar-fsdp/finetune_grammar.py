"""Fine-tunes a grammar checker; FSDP keeps its parameters on the cpu between the layers."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import CPUOffload
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Checker(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.tokens = nn.EmbeddingBag(64, width)
        self.judge = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2))

    def forward(self, sentences):
        return self.judge(self.tokens(sentences))


def wrap(model):
    wrapped = FSDP(model, cpu_offload=CPUOffload(offload_params=True), device_id=0)
    print("FSDP with CPUOffload(offload_params=True)")
    return wrapped


def main():
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29533")
    dist.init_process_group("gloo", rank=0, world_size=1)
    device = torch.device("cuda", 0)
    checker = wrap(Checker()).to(device)
    optimizer = torch.optim.AdamW(checker.parameters())
    for _ in range(2):
        sentences = torch.randint(64, (8, 12), device=device)
        loss = nn.functional.cross_entropy(checker(sentences), sentences[:, 0] % 2)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
