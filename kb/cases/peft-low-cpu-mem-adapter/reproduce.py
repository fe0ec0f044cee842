"""Adapter layers made on meta take over the tensors of a file, which was read to the cpu.

Needs torch, peft and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the adapter to its base layers and prints "fixed: ok".
``load_adapter`` does what peft did before its pull request 2113: it assigns and does not move.
"""

import sys

import torch
from peft import LoraConfig, get_peft_model_state_dict, inject_adapter_in_model
from torch import nn

CONFIG = LoraConfig(r=2, target_modules=["proj_mlp", "proj_out"], init_lora_weights=False)


class FluxBlock(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.proj_mlp = nn.Linear(width, 2 * width)
        self.proj_out = nn.Linear(2 * width, width)

    def forward(self, hidden_states, gate):
        mlp = nn.functional.gelu(self.proj_mlp(self.norm(hidden_states)))
        return hidden_states + gate * self.proj_out(mlp)


def saved_adapter():
    model = inject_adapter_in_model(CONFIG, FluxBlock())
    return get_peft_model_state_dict(model)


def load_adapter(model, state_dict, variant):
    inject_adapter_in_model(CONFIG, model, low_cpu_mem_usage=True)
    for key, value in state_dict.items():
        layer, _, kind = key.removesuffix(".weight").rpartition(".")
        lora_layer = model.get_submodule(layer)
        if variant == "fixed":
            value = value.to(lora_layer.get_base_layer().weight.device)
        getattr(lora_layer, kind)["default"].weight = nn.Parameter(value)


def main(variant):
    torch.manual_seed(0)
    state_dict = saved_adapter()
    transformer = FluxBlock().to("cuda")
    load_adapter(transformer, state_dict, variant)
    with torch.no_grad():
        transformer(torch.randn(2, 5, 8, device="cuda"), torch.tensor(0.5, device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
