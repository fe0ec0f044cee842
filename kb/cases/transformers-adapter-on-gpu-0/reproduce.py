"""Adapter weights are read onto the default GPU, not onto the model's, and no error is raised.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in an AssertionError that says which
GPU the adapter's tensors went to, ``python reproduce.py fixed`` hands the device on and prints
"fixed: ok". The functions stand for those of transformers and peft, and keep the tensors as read.
"""

import io
import sys

import torch
from torch import nn


def infer_device():
    return "cuda:0" if torch.cuda.is_available() else "cpu"


def load_peft_weights(file, device=None):
    return torch.load(file, map_location=device or infer_device())


def load_adapter(model, file, device_map=None):
    weights = load_peft_weights(file, device=device_map)
    model.lora_A = nn.Parameter(weights["lora_A"])
    model.lora_B = nn.Parameter(weights["lora_B"])


def from_pretrained(file, device_map, variant):
    model = nn.Linear(8, 8).to(device_map)
    load_adapter(model, file, device_map=device_map if variant == "fixed" else None)
    return model


def main(variant):
    file = io.BytesIO()
    torch.save({"lora_A": torch.randn(2, 8), "lora_B": torch.zeros(8, 2)}, file)
    file.seek(0)
    model = from_pretrained(file, "cuda:1", variant)
    found = {name: str(p.device) for name, p in model.named_parameters()}
    assert set(found.values()) == {"cuda:1"}, f"adapter silently on another GPU: {found}"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
