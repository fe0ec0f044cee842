"""Token ids are sent to cuda:0 while the balanced device map has put the embedding on the last GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends them to the embedding's GPU and prints "fixed: ok".
The quantized layers are plain ones here, for the run does not get as far as them.
"""

import sys

import torch
from torch import nn

BALANCED = {"embed_tokens": "cuda:1", "layers.0": "cuda:0", "layers.1": "cuda:1"}


class QuantizedModel(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.ModuleList(nn.Linear(hidden_size, hidden_size) for _ in range(2))

    def get_input_embeddings(self):
        return self.embed_tokens

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states.to(layer.weight.device))
        return hidden_states

    def generate(self, input_ids):
        return self(input_ids)[:, -1].argmax(dim=-1)


def from_quantized(device_map):
    model = QuantizedModel().eval()
    for name, device in device_map.items():
        model.get_submodule(name).to(device)
    return model


def main(variant):
    torch.manual_seed(0)
    model = from_quantized(BALANCED)
    tokens = torch.randint(16, (1, 5))
    if variant == "failing":
        tokens = tokens.to("cuda:0")
    else:
        tokens = tokens.to(model.get_input_embeddings().weight.device)
    model.generate(tokens)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
