"""LoRA weights are to join a base model of which accelerate keeps a layer on the cpu.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` has the whole base model on the GPU and prints "fixed: ok".
peft is not needed: ``load_lora`` takes the base layer's weight to the GPU, to add to it, as loading
an adapter onto a quantized base did. The failing map is what "auto" gives when memory is short.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAPS = {"failing": {"q_proj": 0, "v_proj": "cpu"}, "fixed": {"": 0}}


class LlamaAttention(nn.Module):
    def __init__(self, hidden_size=8):
        super().__init__()
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(self, hidden_states):
        return self.q_proj(hidden_states) + self.v_proj(hidden_states)


def load_lora(model, rank=2):
    for name in ("q_proj", "v_proj"):
        layer = model.get_submodule(name)
        # An offloaded layer shows a placeholder here; accelerate has its data elsewhere.
        weight = layer.weight.detach().to("cuda:0")
        lora_a = torch.randn(rank, weight.shape[1], device=weight.device)
        lora_b = torch.zeros(weight.shape[0], rank, device=weight.device)
        layer.weight = nn.Parameter(weight + lora_b @ lora_a)
    return model


def main(variant):
    torch.manual_seed(0)
    base_model = dispatch_model(LlamaAttention().eval(), device_map=DEVICE_MAPS[variant])
    model = load_lora(base_model)
    model(torch.randn(1, 5, 8, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
