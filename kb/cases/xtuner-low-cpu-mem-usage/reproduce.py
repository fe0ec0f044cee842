"""Memory-saving loading leaves a parameter on meta that the shards do not replace.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about meta,
``python reproduce.py fixed`` loads with low_cpu_mem_usage=False and prints "fixed: ok".
``from_pretrained`` has both ways of loading, as transformers has.
"""

import sys

import torch
from torch import nn


class ChatModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.norm = nn.LayerNorm(8)

    @classmethod
    def from_pretrained(cls, shards, low_cpu_mem_usage, device_map=None):
        with torch.device("meta" if low_cpu_mem_usage else "cpu"):
            model = cls()
        for shard in shards:
            for name, value in shard.items():
                owner, _, leaf = name.rpartition(".")
                if device_map is not None and owner not in device_map:
                    continue  # no entry in the map, so nobody dispatches it
                setattr(model.get_submodule(owner), leaf, nn.Parameter(value))
        return model


def main(variant):
    shards = [ChatModel().state_dict()]
    if variant == "fixed":
        model = ChatModel.from_pretrained(shards, low_cpu_mem_usage=False)
    else:
        device_map = {f"layers.{i}": "cpu" for i in range(3)}
        model = ChatModel.from_pretrained(shards, low_cpu_mem_usage=True, device_map=device_map)
    model.to("cuda")
    assert all(parameter.is_cuda for parameter in model.parameters())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
