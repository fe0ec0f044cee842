"""An engine places its model on the device it was given and its inputs on the current one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` uses the given device for both and prints "fixed: ok". ``LLM`` has of
vLLM only the profiling forward with which it starts.
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F


class VocabParallelEmbedding(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, width))

    def embedding(self, input_):
        return F.embedding(input_, self.weight)

    def forward(self, input_):
        return self.embedding(input_)


class LLM:
    def __init__(self, device, mended):
        self.input_device = device if mended else "cuda"
        self.model = VocabParallelEmbedding(32, 8).to(device)
        self.profile_run()

    def profile_run(self):
        input_ids = torch.zeros(16, dtype=torch.long, device=self.input_device)
        self.model(input_ids)


class GRPOTrainer:
    def __init__(self, vllm_device, variant):
        self.llm = LLM(vllm_device, mended=variant == "fixed")


def main(variant):
    GRPOTrainer("cuda:1", variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
