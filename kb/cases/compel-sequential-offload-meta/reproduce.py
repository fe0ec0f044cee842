"""A prompt weighter puts token ids on the encoder's device, which says meta under offloading.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the meta tensor's
error, ``python reproduce.py fixed`` names the device that the encoder runs on and prints
"fixed: ok".
"""

import sys

import torch
from accelerate import cpu_offload
from torch import nn


class CLIPTextModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding = nn.Embedding(100, 8)
        self.fc1 = nn.Linear(8, 8)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, token_ids):
        return self.fc1(self.token_embedding(token_ids))


class EmbeddingsProvider:
    def __init__(self, text_encoder, device):
        self.text_encoder, self._device = text_encoder, device

    @property
    def device(self):
        return self._device or self.text_encoder.device

    def get_embeddings_for_weighted_prompt(self, ids, weights):
        token_ids = torch.tensor([ids], dtype=torch.long, device=self.device)
        per_token_weights = torch.tensor([weights], device=self.device)
        z = self.text_encoder(token_ids)
        empty_z = self.text_encoder(torch.zeros_like(token_ids))
        return empty_z + (z - empty_z) * per_token_weights.to(z)[..., None]


class Compel:
    def __init__(self, text_encoder, device=None):
        self.conditioning_provider = EmbeddingsProvider(text_encoder, device)

    @torch.no_grad()
    def __call__(self, text):
        words = text.split()
        ids = [len(word.rstrip("+")) for word in words]
        weights = [1.1 ** word.count("+") for word in words]
        return self.conditioning_provider.get_embeddings_for_weighted_prompt(ids, weights)


def main(variant):
    text_encoder = CLIPTextModel()
    cpu_offload(text_encoder, execution_device=torch.device("cuda:0"))
    where = {"device": "cuda:0"} if variant == "fixed" else {}
    conditioning = Compel(text_encoder, **where)("a cat playing with a ball++ in the forest")
    assert conditioning.shape == (1, 9, 8)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
