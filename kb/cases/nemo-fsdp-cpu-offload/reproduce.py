"""A model that FSDP offloads to the cpu is moved to the GPU after it has been wrapped.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` leaves it where FSDP keeps it and prints "fixed: ok". One process is
the whole group; ``Strategy`` stands for the trainer's setup.
"""

import sys
import warnings

import torch
from torch import distributed, nn
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel


class MegatronGPTModel(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, width)
        self.decoder = nn.Linear(width, width)
        self.output_layer = nn.Linear(width, vocab_size)

    def forward(self, tokens):
        return self.output_layer(torch.relu(self.decoder(self.embedding(tokens))))


class Strategy:
    def __init__(self, fsdp_cpu_offload, moves_module):
        self.offload = CPUOffload(offload_params=fsdp_cpu_offload)
        self.moves_module = moves_module

    def setup(self, module):
        self.model = FullyShardedDataParallel(module, cpu_offload=self.offload, device_id=0)
        if self.moves_module:
            self.model.to("cuda:0")

    def validation_step(self, tokens):
        with torch.no_grad():
            return self.model(tokens.to("cuda:0"))


def main(variant):
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    strategy = Strategy(fsdp_cpu_offload=True, moves_module=variant == "failing")
    strategy.setup(MegatronGPTModel())
    strategy.validation_step(torch.randint(16, (2, 6)))
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
