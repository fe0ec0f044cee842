"""An export changes a layer's weight outside of its forward, and the weight is offloaded.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` loads the layer, changes it and writes it back and prints "fixed: ok".
"""

import sys
from contextlib import contextmanager, nullcontext

import torch
from accelerate import cpu_offload
from accelerate.utils import align_module_device
from torch import nn


class MLP(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.up_proj = nn.Linear(width, 2 * width, bias=False)
        self.down_proj = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        return self.down_proj(self.up_proj(x))


@contextmanager
def weight_access_and_writeback(module):
    store = module._hf_hook.weights_map
    with align_module_device(module):
        yield
        weight = module.weight.data.cpu()
    store.dataset[store.prefix + "weight"] = weight


def awq_lite(model, samples):
    """Finds each layer's scale of inputs by running it, as hooks allow."""
    scales = {}

    def observe(module, args):
        scales[module] = args[0].abs().flatten(0, -2).mean(0).clamp(min=1e-3)

    layers = [model.up_proj, model.down_proj]
    handles = [layer.register_forward_pre_hook(observe) for layer in layers]
    model(samples)
    for handle in handles:
        handle.remove()
    return scales


def fuse_prequant_to_linear(model, scales, variant):
    # The scale before down_proj goes into the rows of up_proj.
    pre_quant_scale = scales[model.down_proj]
    linear = model.up_proj
    with weight_access_and_writeback(linear) if variant == "fixed" else nullcontext():
        linear.weight.data = linear.weight * pre_quant_scale[:, None]


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    model = cpu_offload(MLP(), execution_device=torch.device("cuda:0"))
    scales = awq_lite(model, torch.randn(4, 8, device="cuda:0"))
    scales = {layer: scale.to("cuda:0") for layer, scale in scales.items()}
    fuse_prequant_to_linear(model, scales, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
