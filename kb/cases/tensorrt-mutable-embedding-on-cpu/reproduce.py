"""A compiler moves the module that it has compiled to the cpu, and its embedding is still in use.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves it only when told so and prints "fixed: ok". ``Mutable`` keeps
copies of weights as an engine does.
"""

import copy
import sys

import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))

    def get_input_embeddings(self):
        return self.embed_tokens

    def forward(self, inputs_embeds):
        return self.layers(inputs_embeds)


class Mutable:
    def __init__(self, module, variant, offload_module_to_cpu=False):
        self.original_model = module
        self.engine = copy.deepcopy(module)
        if variant == "failing" or offload_module_to_cpu:
            self.deallocate_module(self.original_model)

    @staticmethod
    def deallocate_module(module):
        module.to("cpu")
        torch.cuda.empty_cache()

    def __call__(self, inputs_embeds):
        return self.engine(inputs_embeds)

    def __getattr__(self, name):
        return getattr(self.original_model, name)


class EagleVL(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.vision_model = nn.Linear(12, width)
        self.language_model = LanguageModel(width=width)

    def forward(self, pixel_values, input_ids):
        embeds = self.language_model.get_input_embeddings()(input_ids)
        images = self.vision_model(pixel_values)
        return self.language_model(torch.cat([images, embeds], dim=1))


def main(variant):
    torch.manual_seed(0)
    model = EagleVL().to("cuda").eval()
    compiled = Mutable(model.language_model, variant)
    del model.language_model
    model.language_model = compiled
    with torch.no_grad():
        model(torch.randn(1, 4, 12, device="cuda"), torch.randint(16, (1, 5), device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
