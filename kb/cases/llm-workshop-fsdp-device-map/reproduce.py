"""accelerate refuses to prepare a spread model for training in several processes.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in accelerate's refusal,
``python reproduce.py fixed`` loads without a device map and prints "fixed: ok".
One process plays the first rank of a launch: accelerate takes it for a distributed run, since
LOCAL_RANK is set and a process group is there. With FSDP or with DDP it asks the same question.
"""

import os
import sys

import torch
from accelerate import Accelerator, dispatch_model
from torch import distributed, nn

AUTO_MAP = {"embed_tokens": 0, "lm_head": 1}


class CausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.embed_tokens(input_ids)).mean()


def create_and_prepare_model(device_map):
    model = CausalLM()
    return model if device_map is None else dispatch_model(model, device_map=device_map)


def main(variant):
    torch.manual_seed(0)
    os.environ.update(LOCAL_RANK="0", RANK="0", WORLD_SIZE="1")
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    accelerator = Accelerator()
    model = create_and_prepare_model(AUTO_MAP if variant == "failing" else None)
    try:
        model = accelerator.prepare(model)
        model(torch.randint(16, (2, 5)).to(accelerator.device))
    finally:
        distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
