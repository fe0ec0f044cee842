"""The Trainer counts tokens on the first GPU, and the split model divides its loss by the count.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the count to the logits and prints "fixed: ok". Trainer and
model share the work as transformers' do: the one counts, the other divides.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn


def next_token_loss(logits, labels, count, move_count):
    """The summed loss of all tokens but the first, per token of the whole batch."""
    predicted = logits[:, :-1].transpose(1, 2)
    wanted = labels[:, 1:].to(logits.device)
    total = nn.functional.cross_entropy(predicted, wanted, reduction="sum")
    if move_count:
        count = count.to(logits.device)
    return total / count


class CausalLM(nn.Module):
    move_count = False

    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.Linear(width, width))
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids, labels, num_items_in_batch):
        logits = self.lm_head(self.layers(self.embed_tokens(input_ids)))
        return next_token_loss(logits, labels, num_items_in_batch, self.move_count)


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
