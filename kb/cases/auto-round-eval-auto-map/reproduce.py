"""The evaluation's token ids are on cuda:0; the embedding shares its weight with lm_head on cuda:1.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` fills the first GPU first and prints "fixed: ok". What accelerate does
is written out: "auto" balances the parts over the GPUs, "sequential" has room for all of this small
model on the first, and a tied weight goes where lm_head goes.
"""

import sys

import torch
from torch import nn

DEVICE_MAPS = {
    "auto": {"embed_tokens": "cuda:0", "layers": "cuda:0", "lm_head": "cuda:1"},
    "sequential": {"embed_tokens": "cuda:0", "layers": "cuda:0", "lm_head": "cuda:0"},
}


class OPTForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.Linear(hidden_size, hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False)
        self.tie_weights()

    def tie_weights(self):
        self.embed_tokens.weight = self.lm_head.weight

    def forward(self, input_ids):
        hidden_states = self.embed_tokens(input_ids)
        hidden_states = self.layers(hidden_states.to(self.layers.weight.device))
        return self.lm_head(hidden_states.to(self.lm_head.weight.device))


def load_model(device_map):
    model = OPTForCausalLM().eval()
    for name, device in DEVICE_MAPS[device_map].items():
        model.get_submodule(name).to(device)
    model.tie_weights()
    return model


def simple_evaluate(model, input_ids):
    with torch.no_grad():
        return model(input_ids.to("cuda:0")).log_softmax(dim=-1)


def main(variant):
    torch.manual_seed(0)
    model = load_model("auto" if variant == "failing" else "sequential")
    simple_evaluate(model, torch.randint(16, (1, 5)))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
