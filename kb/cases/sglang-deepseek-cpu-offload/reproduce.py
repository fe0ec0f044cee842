"""An offloader gives each forward the layer's parameters on the GPU; a plain tensor is not among them.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves that tensor where it is used and prints "fixed: ok".
"""

import sys

import torch
from torch import nn
from torch.func import functional_call


class TopK(nn.Module):
    def __init__(self, correction_bias, variant, top_k=2):
        super().__init__()
        self.correction_bias = correction_bias.data  # shares the gate's, is no Parameter
        self.top_k, self.variant = top_k, variant

    def forward(self, router_logits):
        bias = self.correction_bias
        if self.variant == "fixed":
            bias = bias.to(router_logits.device)
        scores = router_logits.sigmoid()
        chosen = (scores + bias).topk(self.top_k, dim=-1).indices
        weights = scores.gather(-1, chosen)
        return weights / weights.sum(-1, keepdim=True), chosen


class DeepseekMoE(nn.Module):
    def __init__(self, variant, width=8, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.topk = TopK(self.gate.bias, variant)
        self.experts = nn.Parameter(torch.randn(experts, width, width))

    def forward(self, x):
        weights, chosen = self.topk(self.gate(x))
        outputs = torch.einsum("tw,tkwo->tko", x, self.experts[chosen])
        return (outputs * weights[..., None]).sum(1)


class OffloaderV1:
    def __init__(self, cpu_offload_gb):
        self.enabled = cpu_offload_gb > 0

    def wrap(self, module):
        module.to("cpu" if self.enabled else "cuda")
        original = module.forward

        def forward(x):
            module.forward = original
            on_gpu = {name: p.to(x.device) for name, p in module.named_parameters()}
            output = functional_call(module, on_gpu, (x,))
            module.forward = forward
            return output

        module.forward = forward
        return module


def main(variant):
    torch.manual_seed(0)
    layer = OffloaderV1(cpu_offload_gb=1).wrap(DeepseekMoE(variant))
    with torch.no_grad():
        layer(torch.randn(5, 8, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
