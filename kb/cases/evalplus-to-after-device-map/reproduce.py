"""A program moves its model after accelerate has placed it and kept some of it on the cpu.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves only a model that has no device map and prints "fixed: ok".
The device map is what "auto" gives when the GPU has no room for the last layer.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"embed_tokens": 0, "layers.0": 0, "layers.1": "cpu"}


class CausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.ModuleList(nn.Linear(hidden_size, hidden_size) for _ in range(2))

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return hidden_states


class HuggingFaceDecoder:
    def __init__(self, device_map, only_without_map):
        self.device = torch.device("cuda")
        self.model = dispatch_model(CausalLM().eval(), device_map=device_map)
        if not only_without_map or device_map is None:
            self.model = self.model.to(self.device)

    def codegen(self, prompt):
        with torch.no_grad():
            return self.model(prompt.to(self.device)).argmax(dim=-1)


def main(variant):
    torch.manual_seed(0)
    decoder = HuggingFaceDecoder(DEVICE_MAP, only_without_map=variant == "fixed")
    decoder.codegen(torch.randint(16, (1, 5)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
