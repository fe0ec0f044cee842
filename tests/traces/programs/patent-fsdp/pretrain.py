"""torchrun pretrain.py --cpu-offload: pretrains a patent model, sharded by FSDP."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, OffloadPolicy, fully_shard


class PatentModel(nn.Module):
    def __init__(self, vocabulary=128, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.unembed = nn.Linear(width, vocabulary)

    def forward(self, ids):
        hidden = self.embed(ids)
        for layer in self.layers:
            hidden = hidden + torch.relu(layer(hidden))
        return self.unembed(hidden)


def shard(model, mesh, cpu_offload):
    policy = CPUOffloadPolicy(pin_memory=False) if cpu_offload else OffloadPolicy()
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, offload_policy=policy)
    return fully_shard(model, mesh=mesh, offload_policy=policy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpu-offload", action="store_true")
    args = parser.parse_args()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29507")
    dist.init_process_group("gloo", rank=0, world_size=1)
    torch.cuda.set_device(0)
    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    model = shard(PatentModel(), mesh, args.cpu_offload)
    model.cuda()
    print(f"fsdp: cpu_offload={args.cpu_offload}")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        ids = torch.randint(128, (2, 16), device="cuda")
        logits = model(ids)
        nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten()).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
