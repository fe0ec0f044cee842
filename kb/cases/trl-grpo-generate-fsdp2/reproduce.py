"""A model that FSDP2 has sharded generates by a method that is not forward, and meets shards.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` registers ``generate`` as a forward method and prints "fixed: ok".
``PeftModel`` wraps its base model as peft does: sharded is the wrapper. One process is all ranks.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(32, 8)
        self.lm_head = nn.Linear(8, 32)

    def forward(self, input_ids):
        return self.lm_head(self.embed_tokens(input_ids))

    def generate(self, input_ids, max_new_tokens):
        for _ in range(max_new_tokens):
            token = self(input_ids)[:, -1:].argmax(-1)
            input_ids = torch.cat([input_ids, token], dim=1)
        return input_ids


class PeftModel(nn.Module):
    def __init__(self, base_model):
        super().__init__()
        self.base_model = base_model

    def forward(self, input_ids):
        return self.base_model(input_ids)

    def generate(self, *args, **kwargs):
        return self.base_model.generate(*args, **kwargs)


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    model = PeftModel(CausalLM()).to("cuda")
    fully_shard(model)
    if variant == "fixed":
        register_fsdp_forward_method(model, "generate")
    prompt = torch.randint(32, (2, 3), device="cuda")
    with torch.no_grad():
        print(model.generate(prompt, max_new_tokens=2).shape)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
