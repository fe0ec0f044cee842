"""accelerate refuses to prepare a spread model for training in several processes.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` loads without a device map and prints "fixed: ok".
One process plays the first of two. ``prepare_model`` asks what accelerate's asks before it wraps a
model, and raises its sentence.
"""

import os
import sys

import torch
from torch import nn

os.environ.setdefault("WORLD_SIZE", "2")


class Model(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids).to(self.lm_head.weight.device)
        return self.lm_head(hidden_states).mean()


def create_and_prepare_model(device_map):
    model = Model()
    if device_map is not None:
        for name, device in device_map.items():
            model.get_submodule(name).to(device)
        model.hf_device_map = device_map
    return model


def verify_device_map(model):
    """Whether the model is spread over more than one device."""
    return len(set(getattr(model, "hf_device_map", {}).values())) > 1


def prepare_model(model, device):
    if int(os.environ["WORLD_SIZE"]) > 1 and verify_device_map(model):
        raise ValueError(
            "You can't train a model that has been loaded with `device_map='auto'` in any "
            "distributed mode. Please rerun your script specifying `--num_processes=1` or by "
            "launching with `python {{myscript.py}}`."
        )
    return model.to(device)


def main(variant):
    torch.manual_seed(0)
    device_map = {"embed_tokens": "cuda:0", "lm_head": "cuda:1"} if variant == "failing" else None
    model = prepare_model(create_and_prepare_model(device_map), torch.device("cuda", 0))
    model(torch.randint(16, (2, 5)).to("cuda:0")).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
