"""A CUDA graph is captured of a head that masks logits with a list of numbers.

Needs torch and one GPU. ``python reproduce.py failing`` ends in torch's error about the copy,
``python reproduce.py fixed`` has the numbers on the GPU before, fills by index, and prints "fixed: ok".
``Gemma4MTP`` keeps the last step of its namesake.
"""

import sys

import torch
from torch import nn


class Gemma4MTP(nn.Module):
    def __init__(self, suppress_token_ids):
        super().__init__()
        self.suppress_token_ids = suppress_token_ids
        self.lm_head = nn.Linear(8, 32, bias=False, device="cuda")

    def finish_loading(self):
        """After the weights are there, and before anything is captured."""
        device = self.lm_head.weight.device
        self.suppress_index = torch.tensor(self.suppress_token_ids, device=device)

    def compute_logits(self, hidden_states, variant):
        logits = self.lm_head(hidden_states)
        if variant == "fixed":
            logits.index_fill_(1, self.suppress_index, float("-inf"))
        else:
            logits[:, self.suppress_token_ids] = -float("inf")
        return logits


def main(variant):
    model = Gemma4MTP([3, 5])
    model.finish_loading()
    hidden_states = torch.zeros(2, 8, device="cuda")
    with torch.no_grad(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        model.compute_logits(hidden_states, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
