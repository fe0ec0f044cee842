"""A Trainer wraps a model that a device map has spread over the GPUs in nn.DataParallel.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` puts the whole model on the current GPU, leaves it unwrapped and
prints "fixed: ok". Quantisation plays no part in the failure and is left out; ``Trainer`` does what
transformers' did: several GPUs and one process mean nn.DataParallel.
"""

import sys

import torch
from torch import nn

AUTO_MAP = {"wte": "cuda:0", "lm_head": "cuda:1"}


class GPTJForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, hidden_size=8):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_ids):
        hidden_states = self.wte(input_ids).to(self.lm_head.weight.device)
        return self.lm_head(hidden_states).float().mean()


def from_pretrained(device_map):
    model = GPTJForCausalLM()
    for name, part in model.named_children():
        part.to(device_map.get(name, device_map.get("")))
    model.hf_device_map = device_map
    return model


class Trainer:
    def __init__(self, model, n_gpu):
        self.model = nn.DataParallel(model) if n_gpu > 1 else model

    def training_step(self, input_ids):
        loss = self.compute_loss(input_ids)
        loss.mean().backward()

    def compute_loss(self, input_ids):
        return self.model(input_ids)


def main(variant):
    torch.manual_seed(0)
    if variant == "failing":
        trainer = Trainer(from_pretrained(AUTO_MAP), n_gpu=2)
    else:
        trainer = Trainer(from_pretrained({"": torch.cuda.current_device()}), n_gpu=1)
    trainer.training_step(torch.randint(16, (4, 5)).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
