"""One call clips gradients of distributed and of plain parameters.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` takes the two kinds apart, joins their norms and prints "fixed: ok".
One process is all ranks; ``Accelerator`` has of its namesake only what clips.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.nn.utils import clip_grads_with_norm_, get_total_norm


class Accelerator:
    def __init__(self, variant):
        self.apart = variant == "fixed"

    def clip_grad_norm_(self, parameters, max_norm):
        parameters = list(parameters)
        if not self.apart:
            return nn.utils.clip_grad_norm_(parameters, max_norm)
        sharded = [p for p in parameters if isinstance(p.grad, DTensor)]
        plain = [p for p in parameters if not isinstance(p.grad, DTensor)]
        norm = get_total_norm([p.grad for p in sharded]).full_tensor()
        norm = torch.linalg.vector_norm(
            torch.stack([norm, get_total_norm([p.grad for p in plain])])
        )
        clip_grads_with_norm_(plain, max_norm, norm)
        for parameter in sharded:
            parameter.grad.mul_(max_norm / (norm.item() + 1e-6))
        return norm


class MoE(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        self.router = nn.Linear(8, 4, device="cuda")
        experts = torch.randn(4, 8, device="cuda")
        self.experts = nn.Parameter(distribute_tensor(experts, mesh, [Shard(0)]))

    def forward(self, x):
        return self.router(x).softmax(-1) @ self.experts.full_tensor()


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    model = MoE(init_device_mesh("cuda", (1,), mesh_dim_names=("ep",)))
    model(torch.randn(2, 8, device="cuda")).square().mean().backward()
    Accelerator(variant).clip_grad_norm_(model.parameters(), max_norm=1.0)
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
