"""A refused embedding leaves a pipeline's text encoder without the hook that brings it to the GPU.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` puts the hook back when loading fails and prints "fixed: ok".
"""

import sys

import torch
from accelerate import cpu_offload_with_hook
from accelerate.hooks import remove_hook_from_module
from torch import nn


class CLIPTextModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding = nn.Embedding(50, 8)

    def forward(self, input_ids):
        return self.token_embedding(input_ids)


class StableDiffusionPipeline:
    def __init__(self, variant):
        self.text_encoder, self.unet = CLIPTextModel(), nn.Linear(8, 8)
        self.variant = variant

    def enable_model_cpu_offload(self):
        _, hook = cpu_offload_with_hook(self.text_encoder, "cuda:0")
        cpu_offload_with_hook(self.unet, "cuda:0", prev_module_hook=hook)

    def load_textual_inversion(self, embedding):
        remove_hook_from_module(self.text_encoder)
        weight = self.text_encoder.token_embedding.weight
        try:
            weight.data[-1] = embedding
        except RuntimeError:
            if self.variant == "fixed":
                self.enable_model_cpu_offload()
            raise
        self.enable_model_cpu_offload()

    @torch.no_grad()
    def __call__(self, input_ids):
        prompt_embeds = self.text_encoder(input_ids.to("cuda:0"))
        return self.unet(prompt_embeds)


def main(variant):
    pipe = StableDiffusionPipeline(variant)
    pipe.enable_model_cpu_offload()
    prompt = torch.randint(50, (1, 6))
    pipe(prompt)
    pipe.text_encoder.to("cpu")  # parked until the next prompt
    for embedding in (torch.randn(8), torch.randn(12)):  # the second is for another model
        try:
            pipe.load_textual_inversion(embedding)
        except RuntimeError as error:
            print(f"skipped an embedding: {error}")
    pipe(prompt)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
