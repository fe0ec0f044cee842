"""A name for the prompt is bound before the prompt is moved, and keeps the copy on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` binds the name anew after the move and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class HookedTransformer(nn.Module):
    def __init__(self, d_vocab, d_model, device, variant):
        super().__init__()
        self.device = torch.device(device)
        self.embed = nn.Embedding(d_vocab, d_model)
        self.unembed = nn.Linear(d_model, d_vocab)
        self.variant = variant
        self.to(self.device)

    def forward(self, tokens):
        return self.unembed(self.embed(tokens).cumsum(dim=1))

    @torch.inference_mode()
    def generate(self, input, max_new_tokens):
        input_tokens = input
        input = input.to(self.device)
        if self.variant == "fixed":
            input_tokens = input
        sampled_tokens = []
        tokens = input
        for _ in range(max_new_tokens):
            new_token = self(tokens)[:, -1].argmax(dim=-1, keepdim=True)
            sampled_tokens.append(new_token)
            tokens = torch.cat([tokens, new_token], dim=1)
        return torch.cat((input_tokens, *sampled_tokens), dim=1)


def main(variant):
    torch.manual_seed(0)
    # A model for an algorithmic task: no tokenizer, tokens made by hand.
    model = HookedTransformer(d_vocab=7, d_model=8, device="cuda", variant=variant)
    prompt = torch.tensor([[1, 2, 3]])
    print(model.generate(prompt, max_new_tokens=2))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
