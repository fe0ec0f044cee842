"""A model spread by a device map is wrapped for data parallel training by accelerator.prepare().

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has the whole model on the process's GPU and prints "fixed: ok".
One process plays the second of two. ``prepare_model`` does what accelerate's does for a launch
with several processes: it gives DistributedDataParallel the GPU of this process.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

LOCAL_RANK = 1
AUTO_MAP = {"embed_tokens": 0, "lm_head": 1}


class LlamaForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.embed_tokens(input_ids))


def from_pretrained(device_map):
    model = LlamaForCausalLM()
    if device_map is None:
        return model.to(torch.device("cuda", LOCAL_RANK))
    return dispatch_model(model, device_map=device_map)


def prepare_model(model):
    return DistributedDataParallel(model, device_ids=[LOCAL_RANK], output_device=LOCAL_RANK)


def main(variant):
    torch.manual_seed(0)
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    model = prepare_model(from_pretrained(AUTO_MAP if variant == "failing" else None))
    input_ids = torch.randint(16, (2, 5)).to(torch.device("cuda", LOCAL_RANK))
    with torch.no_grad():
        model(input_ids)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
