"""Suggests the next step of a recipe, with a GPT-2 over two GPUs."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def load_model():
    model = GPT2LMHeadModel(GPT2Config(vocab_size=70, n_embd=32, n_layer=4, n_head=4)).eval()
    model.parallelize({0: [0, 1], 1: [2, 3]})
    return model


def suggest(model, recipe, device):
    input_ids = torch.tensor([recipe]).to(device)
    with torch.no_grad():
        generated = model.generate(input_ids, max_new_tokens=6, do_sample=False, pad_token_id=0)
    return generated[0, len(recipe) :].tolist()


if __name__ == "__main__":
    device = torch.device("cuda:1")
    print(suggest(load_model(), [4, 8, 15, 16, 23, 42], device))
