"""A metric's buffers and what it is given are on different devices when perplexity is logged.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings metric and inputs together and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class NLL(nn.Module):
    """A mean with a weight for each value, as torchmetrics keeps it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean_value", torch.zeros(1))
        self.register_buffer("weight", torch.zeros(1))

    def update(self, value, weight):
        self.mean_value += value.sum().reshape(1)
        self.weight += weight.sum().reshape(1)

    def compute(self):
        return torch.exp(self.mean_value / self.weight)


class Metrics:
    """Not a module: the trainer does not move what it holds."""

    def __init__(self, variant):
        self.gen_ppl = NLL()
        self.variant = variant

    def record_generative_perplexity(self, samples, eval_model):
        logits = eval_model(samples)[:, :-1]
        nlls = nn.functional.cross_entropy(logits.transpose(1, 2), samples[:, 1:], reduction="none")
        valid_tokens = (samples[:, 1:] != 0).float()
        if self.variant == "fixed":
            self.gen_ppl = self.gen_ppl.to(nlls.device)
        self.gen_ppl.update(nlls * valid_tokens, valid_tokens)
        return self.gen_ppl.compute()


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    eval_model = nn.Sequential(nn.Embedding(11, 8), nn.Linear(8, 11)).cuda()
    samples = torch.randint(11, (2, 6), device="cuda")
    print(Metrics(variant).record_generative_perplexity(samples, eval_model))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
