"""FSDP's own tensors are made on the current GPU, which nobody has set to the rank's.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sets the current GPU and prints "fixed: ok".
A real run needs two processes and NCCL. ``FlatParamHandle`` does what matters here: it gathers the
sharded parameter into memory on "cuda" and asks where that is, in FSDP's words.
"""

import sys

import torch
from torch import nn

LOCAL_RANK = 1


class FlatParamHandle:
    def __init__(self, module, device):
        self.device = device
        self.shard = torch.cat([p.detach().flatten() for p in module.parameters()])

    def _check_on_compute_device(self, tensor):
        if tensor.device != self.device:
            raise AssertionError(f"Expects tensor to be on the compute device {self.device}")

    def unshard(self):
        unsharded_flat_param = torch.empty(self.shard.numel(), device="cuda")
        self._check_on_compute_device(unsharded_flat_param)
        return unsharded_flat_param.copy_(self.shard)


class FSDP(nn.Module):
    def __init__(self, module, device_id):
        super().__init__()
        self.module = module
        self.handle = FlatParamHandle(module, torch.device("cuda", device_id))

    def forward(self, x):
        flat_param = self.handle.unshard()
        weight, bias = flat_param.split([flat_param.numel() - 4, 4])
        return nn.functional.linear(x, weight.view(4, -1), bias)


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda", LOCAL_RANK)
    model = FSDP(nn.Linear(8, 4).to(device), device_id=LOCAL_RANK)
    if variant == "fixed":
        torch.cuda.set_device(device)
    output = model(torch.randn((1, 8), device=device))
    print("output on", output.device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
