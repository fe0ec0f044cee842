"""A cache connector sets the current GPU to the worker's number among all machines.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the number on this machine and prints "fixed: ok". The process
plays the first worker of the second machine.
"""

import sys
from typing import NamedTuple

import torch


class ParallelConfig(NamedTuple):
    rank: int
    local_rank: int
    world_size: int


class LMCacheEngine:
    def __init__(self, device):
        self.device, self.chunks = device, {}

    def store(self, key, kv):
        self.chunks[key] = kv.to("cpu")

    def retrieve(self, key):
        return self.chunks[key].to(self.device)


def init_lmcache_engine(parallel_config, variant):
    index = parallel_config.local_rank if variant == "fixed" else parallel_config.rank
    torch.cuda.set_device(index)
    return LMCacheEngine(torch.device("cuda", torch.cuda.current_device()))


class Worker:
    def __init__(self, parallel_config):
        self.parallel_config = parallel_config

    def init_device(self, variant):
        self.device = torch.device("cuda", self.parallel_config.local_rank)
        torch.cuda.set_device(self.device)
        self.connector = init_lmcache_engine(self.parallel_config, variant)

    def execute_model(self, tokens):
        kv = torch.randn(2, tokens, 8, device=self.device)
        self.connector.store("prefix", kv)
        return self.connector.retrieve("prefix") + kv


def main(variant):
    gpus = torch.cuda.device_count()
    worker = Worker(ParallelConfig(rank=gpus, local_rank=0, world_size=2 * gpus))
    worker.init_device(variant)
    worker.execute_model(tokens=5)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
