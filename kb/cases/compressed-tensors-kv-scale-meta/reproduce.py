"""A parameter is added to a module whose offload hook has made its store of weights before.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in accelerate's error,
``python reproduce.py fixed`` puts the parameter into the store too and prints "fixed: ok".
"""

import sys
from contextlib import contextmanager

import torch
from accelerate.hooks import AlignDevicesHook, add_hook_to_module, remove_hook_from_module
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.qkv = nn.Parameter(torch.randn(3 * width, width))

    def forward(self, x):
        q, k, v = (x @ self.qkv.T).chunk(3, dim=-1)
        return (q @ k.transpose(1, 2)).softmax(-1) @ v


@contextmanager
def disable_hf_hook(module):
    hook = module._hf_hook
    remove_hook_from_module(module)
    yield
    add_hook_to_module(module, hook)


def register_offload_parameter(module, name, parameter):
    module.register_parameter(name, parameter)
    hook = module._hf_hook
    hook.weights_map[name] = parameter.data
    hook.original_devices[name] = parameter.device


def initialize_kv_scales(module, variant):
    for name in ("k_scale", "v_scale"):
        scale = nn.Parameter(torch.ones(1), requires_grad=False)
        if variant == "fixed":
            register_offload_parameter(module, name, scale)
        else:
            module.register_parameter(name, scale)


def wrap_forward(module, wrapper):
    with disable_hf_hook(module):
        module.forward = wrapper(module, module.forward)


def quantized_inputs(module, forward):
    return lambda x: forward(x.mul(16).round().div(16))


def quantized_cache(module, forward):
    return lambda x: forward(x / module.k_scale) * module.v_scale


def main(variant):
    torch.manual_seed(0)
    attention = Attention()
    add_hook_to_module(attention, AlignDevicesHook(execution_device="cuda:0", offload=True))
    initialize_kv_scales(attention, variant)
    wrap_forward(attention, quantized_inputs)
    wrap_forward(attention, quantized_cache)
    with torch.no_grad():
        attention(torch.randn(1, 5, 8))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
