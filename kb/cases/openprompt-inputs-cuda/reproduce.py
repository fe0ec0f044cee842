"""The model goes to the GPU that was asked for, the batch to the one that .cuda() means.

Needs torch and three GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` passes the device to the batch as well and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class InputFeatures(dict):
    """A batch by name, with the method by which the tutorial moves it."""

    def cuda(self, device="cuda:0"):
        return InputFeatures({name: value.to(device) for name, value in self.items()})


class PromptForClassification(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(32, 8)
        self.verbalizer = nn.Linear(8, 2)

    def forward(self, batch):
        return self.verbalizer(self.word_embeddings(batch["input_ids"]).mean(1))


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:2")
    prompt_model = PromptForClassification().cuda(device)
    inputs = InputFeatures(input_ids=torch.randint(32, (2, 5)))
    inputs = inputs.cuda() if variant == "failing" else inputs.cuda(device)
    logits = prompt_model(inputs)
    assert logits.device == device
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
