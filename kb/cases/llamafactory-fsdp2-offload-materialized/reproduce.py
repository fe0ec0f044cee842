"""A model that FSDP2 is to keep on the cpu is materialized on the accelerator.

Needs torch and one GPU. ``python reproduce.py failing`` ends in FSDP2's error,
``python reproduce.py fixed`` materializes it on the cpu and prints "fixed: ok".
One process is all ranks.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard


class FSDP2Engine:
    def __init__(self, offload_params, variant):
        self.offload_params, self.variant = offload_params, variant

    def shard_model(self, model):
        policy = (
            {"offload_policy": CPUOffloadPolicy(pin_memory=False)} if self.offload_params else {}
        )
        fully_shard(model.embed_tokens, **policy)
        fully_shard(model, **policy)

    def materialize_and_load(self, model, weights):
        device = torch.device("cuda", torch.accelerator.current_device_index())
        if self.variant == "fixed" and self.offload_params:
            device = torch.device("cpu")
        model.to_empty(device=device)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.to_local().copy_(weights[name])


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(16, 8)
        self.lm_head = nn.Linear(8, 16)

    def forward(self, input_ids):
        return self.lm_head(self.embed_tokens(input_ids))


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("cpu:gloo,cuda:nccl", store=store, rank=0, world_size=1)
    weights = CausalLM().state_dict()
    with torch.device("meta"):
        model = CausalLM()
    engine = FSDP2Engine(offload_params=True, variant=variant)
    engine.shard_model(model)
    engine.materialize_and_load(model, weights)
    print(model(torch.randint(16, (2, 3), device="cuda")).shape)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
