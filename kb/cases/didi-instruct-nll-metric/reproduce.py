"""A running metric is used outside the module that would have moved it.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the metric first and prints "fixed: ok". ``MeanMetric`` is what
torchmetrics gives a subclass: two sums, registered as state.
"""

import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy


class MeanMetric(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean_value", torch.zeros(()))
        self.register_buffer("weight", torch.zeros(()))

    def compute(self):
        return self.mean_value / self.weight


class NLL(MeanMetric):
    def update(self, value, weight):
        self.mean_value = self.mean_value + value.sum()
        self.weight += weight.sum()


class Perplexity(NLL):
    def compute(self):
        return super().compute().exp()


class Metrics:
    def __init__(self, variant):
        self.gen_ppl = Perplexity()
        self.variant = variant

    @torch.no_grad()
    def record_generative_perplexity(self, samples, eval_model, pad=0):
        if self.variant == "fixed":
            self.gen_ppl.to(samples.device)
        logits = eval_model(samples[:, :-1]).transpose(1, 2)
        nlls = cross_entropy(logits, samples[:, 1:], reduction="none")
        valid_tokens = (samples[:, 1:] != pad).float()
        self.gen_ppl.update(nlls * valid_tokens, valid_tokens)


def main(variant):
    torch.manual_seed(0)
    eval_model = nn.Sequential(nn.Embedding(16, 8), nn.Linear(8, 16)).to("cuda")
    metrics = Metrics(variant)
    for _ in range(2):
        metrics.record_generative_perplexity(torch.randint(16, (3, 9)).to("cuda"), eval_model)
    print("generative perplexity", float(metrics.gen_ppl.compute()))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
