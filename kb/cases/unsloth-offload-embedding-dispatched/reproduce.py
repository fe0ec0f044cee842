"""An embedding is moved to the cpu after accelerate has noted that it computes on a GPU.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` does not offload it when the model is dispatched and prints
"fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

DEVICE_MAP = {"embed_tokens": 0, "layers": 0, "norm": 1, "lm_head": 1}


class Model(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.norm(self.layers(self.embed_tokens(input_ids))))


def follow_the_weight(module, args):
    """Before each forward: the ids go to wherever the weight lives now."""
    return (args[0].to(module.weight.device),)


def offload_input_embeddings(model):
    print("Offloading embeddings to RAM.")
    model.embed_tokens.weight.data = model.embed_tokens.weight.data.to("cpu")
    model.embed_tokens.register_forward_pre_hook(follow_the_weight)


def from_pretrained(offload_embedding, refuse_when_dispatched):
    model = dispatch_model(Model(), device_map=DEVICE_MAP)
    dispatched = len(set(model.hf_device_map.values())) > 1
    if offload_embedding and not (dispatched and refuse_when_dispatched):
        offload_input_embeddings(model)
    return model


def main(variant):
    torch.manual_seed(0)
    model = from_pretrained(offload_embedding=True, refuse_when_dispatched=variant == "fixed")
    with torch.no_grad():
        model(torch.randint(16, (2, 5)).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
