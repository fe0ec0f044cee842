"""A trainer takes a model with a device map for a split one and works on cuda:0 in every process.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` loads without a map and prints "fixed: ok". One process plays the
second of two; DeepSpeed is left out, its part here is to start one process for each GPU.
"""

import os
import sys

import torch
from torch import nn


class ValueHeadModel(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.lm_head = nn.Linear(width, vocab_size)
        self.v_head = nn.Linear(width, 1)
        self.is_sequential_parallel = False

    def forward(self, input_ids):
        hidden = self.embed_tokens(input_ids)
        return self.lm_head(hidden), self.v_head(hidden).squeeze(-1)


def load_model(device_map):
    model = ValueHeadModel()
    if device_map is not None:
        model.to(torch.device("cuda", device_map[""]))
        model.is_sequential_parallel = True
    return model


class PPOTrainer:
    def __init__(self, model):
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        if model.is_sequential_parallel:
            self.model, self.current_device = model, torch.device("cuda:0")
        else:
            self.model, self.current_device = model.to(device), device

    def step(self, queries, scores):
        input_ids = torch.stack(queries).to(self.current_device)
        scores = torch.tensor(scores, device=self.current_device)
        logits, values = self.model(input_ids)
        log_probs = logits.log_softmax(-1).amax(-1).sum(-1)
        loss = -(log_probs * (scores - values.mean(-1).detach())).mean()
        loss.backward()
        return loss.item()


def main(variant):
    torch.manual_seed(0)
    os.environ["LOCAL_RANK"] = "1"
    device_map = {"": int(os.environ["LOCAL_RANK"])} if variant == "failing" else None
    trainer = PPOTrainer(load_model(device_map))
    trainer.step(list(torch.randint(16, (4, 6))), scores=[0.1, 0.9, 0.4, 0.2])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
