"""Logits are computed with the weight of the word embedding, which is on another GPU.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends the hidden states to the weight and prints "fixed: ok".
accelerate's hooks move inputs when a module is called; here only the embedding's weight is read.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"embed_tokens": 0, "layer": 1}


class OpenLlamaForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layer = nn.Linear(hidden_size, hidden_size)

    def forward(self, input_ids, move_hidden_states):
        hidden_states = self.layer(self.embed_tokens(input_ids))
        weight = self.embed_tokens.weight
        if move_hidden_states:
            hidden_states = hidden_states.to(weight.device)
        logits = torch.einsum("blh,vh->blv", hidden_states, weight)
        return logits


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(OpenLlamaForCausalLM(), device_map=DEVICE_MAP)
    input_ids = torch.randint(16, (2, 5)).to("cuda:0")
    logits = model(input_ids, move_hidden_states=variant == "fixed")
    print("logits on", logits.device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
