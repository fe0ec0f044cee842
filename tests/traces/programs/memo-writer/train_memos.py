"""Fine-tunes a GPT-2 on memos, on every GPU of the machine."""

import torch
from accelerate import dispatch_model
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel


def load():
    """As from_pretrained(..., device_map="auto") places it."""
    model = GPT2LMHeadModel(GPT2Config(vocab_size=80, n_embd=32, n_layer=4, n_head=4))
    model.tie_weights()
    places = {f"transformer.h.{block}": block // 2 for block in range(4)}
    places |= {"transformer.wte": 0, "transformer.wpe": 0, "transformer.drop": 0}
    return dispatch_model(model, places | {"transformer.ln_f": 1, "lm_head": 0})


def train(model, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    for _ in range(steps):
        ids = torch.randint(80, (8, 16), device="cuda")
        loss = model(input_ids=ids, labels=ids).loss.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    model = load()
    print("hf_device_map:", model.hf_device_map)
    train(nn.DataParallel(model), steps=2)
