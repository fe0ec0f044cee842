"""A loss in chunks multiplies plain hidden states by a head's weight that is a distributed tensor.

Needs torch and one GPU. ``python reproduce.py failing`` ends in DTensor's error,
``python reproduce.py fixed`` asks the weight for its full tensor first and prints "fixed: ok".
What FSDP2 and peft do to both is done by hand: the weight is replicated over a mesh of one process,
and the hidden states are plain, as after the adapter's cast.
"""

import sys

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor
from torch.nn.functional import cross_entropy

CHUNK_SIZE = 4


def chunked_cross_entropy_loss(hidden_states, weight, labels, variant):
    if variant == "fixed" and isinstance(weight, DTensor):
        weight = weight.full_tensor()
    loss = hidden_states.new_zeros(())
    for start in range(0, len(labels), CHUNK_SIZE):
        chunk = slice(start, start + CHUNK_SIZE)
        logits = hidden_states[chunk] @ weight.t()
        loss = loss + cross_entropy(logits, labels[chunk], reduction="sum")
    return loss / len(labels)


def main(variant):
    store = distributed.HashStore()
    distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    mesh = init_device_mesh("cuda", (1,))
    lm_head = nn.Linear(8, 32, bias=False, device="cuda")
    lm_head.weight = nn.Parameter(distribute_tensor(lm_head.weight.detach(), mesh, [Replicate()]))
    hidden_states = torch.randn(10, 8, device="cuda", requires_grad=True)
    labels = torch.randint(32, (10,), device="cuda")
    chunked_cross_entropy_loss(hidden_states, lm_head.weight, labels, variant).backward()
    distributed.destroy_process_group()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
