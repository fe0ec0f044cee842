"""LoRA weights are made where the base weight is stored, and an offloaded one is stored on the cpu.

Needs torch, Triton (simulated GPUs bring what is needed of it) and one GPU. ``python reproduce.py failing``
ends in the launcher's error, ``python reproduce.py fixed`` leaves the layer on the GPU and prints
"fixed: ok".
"""

import sys

import torch
import triton
import triton.language as tl
from torch import nn
from torch.func import functional_call


@triton.jit
def shrink_kernel(input_ptr, lora_ptr, out_ptr, K, scale, BLOCK: tl.constexpr):
    token, rank = tl.program_id(0), tl.program_id(1)
    k = tl.arange(0, BLOCK)
    x = tl.load(input_ptr + token * K + k, mask=k < K, other=0.0)
    a = tl.load(lora_ptr + rank * K + k, mask=k < K, other=0.0)
    tl.store(out_ptr + token * tl.num_programs(1) + rank, tl.sum(x * a, axis=0) * scale)


def sgmv_shrink(x, lora_a, scale):
    out = x.new_empty(len(x), len(lora_a))
    block = triton.next_power_of_2(x.shape[1])
    shrink_kernel[out.shape](x, lora_a, out, x.shape[1], scale, BLOCK=block)
    return out


def maybe_offload_to_cpu(module, budget):
    if not budget:
        return module
    for parameter in module.parameters():
        parameter.data = parameter.data.cpu()
    original = module.forward

    def forward(x):
        module.forward = original
        on_gpu = {name: value.to("cuda") for name, value in module.state_dict().items()}
        output = functional_call(module, on_gpu, (x,))
        module.forward = forward
        return output

    module.forward = forward
    return module


class LinearWithLoRA(nn.Module):
    def __init__(self, base_layer, rank=2):
        super().__init__()
        self.base_layer = base_layer
        device = base_layer.weight.device
        out_features, in_features = base_layer.weight.shape
        self.lora_a = torch.zeros(rank, in_features, device=device)
        self.lora_b = torch.zeros(out_features, rank, device=device)

    def forward(self, x):
        return self.base_layer(x) + sgmv_shrink(x, self.lora_a, 1.0) @ self.lora_b.T


def main(variant):
    torch.manual_seed(0)
    cpu_offload_gb = 1 if variant == "failing" else 0
    base_layer = maybe_offload_to_cpu(nn.Linear(8, 8).to("cuda"), cpu_offload_gb)
    layer = LinearWithLoRA(base_layer)
    with torch.no_grad():
        layer(torch.randn(4, 8, device="cuda"))  # the profiling run
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
