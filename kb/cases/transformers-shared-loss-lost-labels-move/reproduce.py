"""A model of two GPUs calls a shared loss function that takes labels as they come.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves labels to the logits in the loss and prints "fixed: ok".
"""

import sys
from types import SimpleNamespace

import torch
from accelerate import dispatch_model
from torch import nn
from torch.nn.functional import cross_entropy


def fixed_cross_entropy(source, target, ignore_index=-100):
    return cross_entropy(source, target, ignore_index=ignore_index)


def for_causal_lm_loss(logits, labels, config):
    shift_logits = logits[..., :-1, :].reshape(-1, config.vocab_size)
    shift_labels = labels[..., 1:].reshape(-1)
    if config.variant == "fixed":
        shift_labels = shift_labels.to(shift_logits.device)
    return fixed_cross_entropy(shift_logits, shift_labels)


def for_sequence_classification_loss(logits, labels, config):
    if config.variant == "fixed":
        labels = labels.to(logits.device)
    return fixed_cross_entropy(logits.view(-1, config.num_labels), labels.view(-1))


LOSS_MAPPING = {
    "ForCausalLM": for_causal_lm_loss,
    "ForSequenceClassification": for_sequence_classification_loss,
}


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mlp = nn.Linear(width, width)

    def forward(self, hidden):
        return hidden + torch.tanh(self.mlp(hidden))


class Mistral(nn.Module):
    def __init__(self, kind, config, width=8):
        super().__init__()
        self.kind, self.config = kind, config
        outputs = config.vocab_size if kind == "ForCausalLM" else config.num_labels
        self.embed_tokens = nn.Embedding(config.vocab_size, width)
        self.layers = nn.Sequential(Block(width), Block(width))
        self.head = nn.Linear(width, outputs, bias=False)

    def forward(self, input_ids, labels):
        hidden = self.layers(self.embed_tokens(input_ids))
        if self.kind == "ForSequenceClassification":
            hidden = hidden[:, -1]
        return LOSS_MAPPING[self.kind](self.head(hidden), labels, self.config)


def main(variant):
    torch.manual_seed(0)
    config = SimpleNamespace(vocab_size=16, num_labels=3, variant=variant)
    device_map = {"embed_tokens": 0, "layers.0": 0, "layers.1": 1, "head": 1}
    ids = torch.randint(16, (2, 6), device="cuda:0")
    for kind in LOSS_MAPPING:
        model = dispatch_model(Mistral(kind, config), device_map=device_map)
        labels = ids if kind == "ForCausalLM" else torch.tensor([0, 2], device="cuda:0")
        loss = model(ids, labels)
        loss.backward()
        print(kind, float(loss))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
