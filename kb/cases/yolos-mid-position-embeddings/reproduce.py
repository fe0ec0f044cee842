"""Position embeddings of the encoder are added to hidden states that have gone on to the next GPU.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the embeddings at the addition and prints "fixed: ok".
accelerate's hooks move the inputs of a layer's forward, not what is added between two layers.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"mid_position_embeddings": 0, "layer.0": 0, "layer.1": 1, "layer.2": 1}


class YolosEncoder(nn.Module):
    def __init__(self, hidden_size, layers):
        super().__init__()
        self.layer = nn.ModuleList(nn.Linear(hidden_size, hidden_size) for _ in range(layers))
        # A parameter of the encoder itself: it stays where it was made, whatever the layers do.
        shape = (layers - 1, 1, 5, hidden_size)
        self.mid_position_embeddings = nn.Parameter(torch.zeros(shape, device="cuda:0"))

    def forward(self, hidden_states, move_embeddings):
        for i, layer_module in enumerate(self.layer):
            hidden_states = layer_module(hidden_states)
            if i < len(self.layer) - 1:
                mid_position = self.mid_position_embeddings[i]
                if move_embeddings:
                    mid_position = mid_position.to(hidden_states.device)
                hidden_states = hidden_states + mid_position
        return hidden_states


def main(variant):
    torch.manual_seed(0)
    encoder = dispatch_model(YolosEncoder(8, layers=3), device_map=DEVICE_MAP)
    patches = torch.randn(2, 5, 8, device="cuda:0")
    output = encoder(patches, move_embeddings=variant == "fixed")
    output.sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
