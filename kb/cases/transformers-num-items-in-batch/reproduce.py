"""The Trainer counts tokens on the first GPU, and the split model divides its loss by the count.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the count to the logits and prints "fixed: ok". The functions
have the names of transformers' and their few lines.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn


def fixed_cross_entropy(source, target, num_items_in_batch=None, ignore_index=-100):
    reduction = "sum" if num_items_in_batch is not None else "mean"
    loss = nn.functional.cross_entropy(
        source, target, ignore_index=ignore_index, reduction=reduction
    )
    return loss / num_items_in_batch if reduction == "sum" else loss


def causal_lm_loss(logits, labels, num_items_in_batch, move_count):
    shift_labels = nn.functional.pad(labels, (0, 1), value=-100)[..., 1:].flatten()
    shift_labels = shift_labels.to(logits.device)
    if move_count:
        num_items_in_batch = num_items_in_batch.to(logits.device)
    return fixed_cross_entropy(logits.flatten(0, 1), shift_labels, num_items_in_batch)


class CausalLM(nn.Module):
    move_count = False

    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.Linear(width, width))
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids, labels, num_items_in_batch):
        logits = self.lm_head(self.layers(self.embed_tokens(input_ids)))
        return causal_lm_loss(logits, labels, num_items_in_batch, self.move_count)


class Trainer:
    device = torch.device("cuda:0")

    def __init__(self, model):
        self.model = model

    def get_batch_samples(self, micro_batches):
        count = sum((batch["labels"][..., 1:] != -100).sum() for batch in micro_batches)
        return micro_batches, count.to(self.device)

    def train(self, micro_batches):
        batches, num_items_in_batch = self.get_batch_samples(micro_batches)
        for batch in batches:
            inputs = {name: value.to(self.device) for name, value in batch.items()}
            self.model(**inputs, num_items_in_batch=num_items_in_batch).backward()


def main(variant):
    torch.manual_seed(0)
    device_map = {"embed_tokens": 0, "layers.0": 0, "layers.1": 1, "lm_head": 1}
    model = dispatch_model(CausalLM(), device_map=device_map)
    model.move_count = variant == "fixed"
    ids = torch.randint(16, (2, 2, 6))
    Trainer(model).train([{"input_ids": part, "labels": part} for part in ids])
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
