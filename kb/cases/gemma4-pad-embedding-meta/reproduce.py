"""The weight of an offloaded embedding is read outside its forward and turns out to have no data.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` calls the embedding in place of reading its weight and prints
"fixed: ok". The device map is what "auto" gives when the GPU has no room for the embedding.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

PAD_TOKEN_ID = 0
DEVICE_MAP = {"embed_tokens": "cpu", "layers": 0}


class Gemma4Model(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.Linear(hidden_size, hidden_size)

    def forward(self, input_ids, image_mask, call_embedding):
        inputs_embeds = self.embed_tokens(input_ids)
        if call_embedding:
            pad_embedding = self.embed_tokens(torch.full_like(input_ids[:1, :1], PAD_TOKEN_ID))
        else:
            # accelerate keeps the data elsewhere; between two calls the weight is a meta tensor.
            pad_embedding = self.embed_tokens.weight[PAD_TOKEN_ID]
        inputs_embeds = torch.where(image_mask.unsqueeze(-1), pad_embedding, inputs_embeds)
        return self.layers(inputs_embeds)


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(Gemma4Model().eval(), device_map=DEVICE_MAP, main_device=0)
    input_ids = torch.randint(16, (2, 5)).to("cuda:0")
    with torch.no_grad():
        model(input_ids, input_ids == 9, call_embedding=variant == "fixed")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
