"""A state_dict() is asked of FSDP while its flat parameters have been moved to the cpu behind it.

Needs torch and one GPU. ``python reproduce.py failing`` ends in FSDP's assertion,
``python reproduce.py fixed`` loads them to the GPU first and prints "fixed: ok". One process is the
whole group; ``offload`` and ``load`` do what verl's functions of these purposes do.
"""

import sys
import warnings

import torch
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp._runtime_utils import _lazy_init


def handles(model):
    _lazy_init(model, model)
    return [handle for handle in model._all_handles if handle is not None]


def offload(model):
    for handle in handles(model):
        handle.flat_param_to(torch.device("cpu"))
        handle.flat_param._local_shard = handle.flat_param.data


def load(model):
    for handle in handles(model):
        handle.flat_param_to(torch.device("cuda:0"))
        handle.flat_param._local_shard = handle.flat_param.data


class ActorWorker:
    def __init__(self, variant):
        self.variant = variant
        actor = nn.Sequential(nn.Embedding(16, 8), nn.Linear(8, 16))
        self.actor_module_fsdp = FullyShardedDataParallel(actor, device_id=0, use_orig_params=False)
        offload(self.actor_module_fsdp)

    def get_actor_weights_info(self):
        if self.variant == "fixed":
            load(self.actor_module_fsdp)
        params = self.actor_module_fsdp.state_dict()
        info = [(name, tuple(value.shape)) for name, value in params.items()]
        if self.variant == "fixed":
            offload(self.actor_module_fsdp)
        return info


def main(variant):
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    print(ActorWorker(variant).get_actor_weights_info())
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
