"""A quantized model is spread by a device map and then moved by .cuda(), and the hooks stay.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` does not move it again and prints "fixed: ok". ``WQLinear`` holds its
weight as integers with scales, as AWQ's layer does; its kernel is left out.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn
from torch.nn.functional import linear


class WQLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        weight = torch.randn(out_features, in_features)
        scales = weight.abs().amax(1, keepdim=True) / 7
        self.register_buffer("qweight", torch.round(weight / scales).to(torch.int8))
        self.register_buffer("scales", scales)

    def forward(self, x):
        return linear(x, self.qweight * self.scales)


class YiForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Sequential(WQLinear(width, width), WQLinear(width, width))
        self.lm_head = nn.Linear(width, vocab_size, bias=False)

    def forward(self, input_ids):
        return self.lm_head(self.layers(self.embed_tokens(input_ids)))

    def generate(self, input_ids, max_new_tokens):
        for _ in range(max_new_tokens):
            best = self(input_ids)[:, -1:].argmax(-1)
            input_ids = torch.cat([input_ids, best.to(input_ids.device)], dim=1)
        return input_ids


def load_model(variant):
    # "auto" on this machine: the first GPU has less room, the embedding went to the second.
    device_map = {"embed_tokens": 1, "layers.0": 1, "layers.1": 0, "lm_head": 0}
    model = dispatch_model(YiForCausalLM().eval(), device_map=device_map)
    return model.cuda() if variant == "failing" else model


def main(variant):
    torch.manual_seed(0)
    model = load_model(variant)
    inputs = {"input_ids": torch.randint(16, (1, 6)).cuda()}
    with torch.no_grad():
        model.generate(**inputs, max_new_tokens=2)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
