"""What a CUDA graph works on is made on the default GPU, and the model runs on another one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes it on the runner's GPU and prints "fixed: ok".
``ModelRunner`` keeps what is prepared for the capture.
"""

import sys

import torch
from torch import nn


class ModelRunner:
    def __init__(self, device, variant):
        self.device = torch.device(device)
        self.made_on = self.device if variant == "fixed" else "cuda"
        self.model = nn.Embedding(32, 8).to(self.device)

    def capture_model(self, batch_size):
        input_tokens = torch.zeros(batch_size, dtype=torch.long, device=self.made_on)
        with torch.no_grad(), torch.cuda.graph(torch.cuda.CUDAGraph()):
            return self.model(input_tokens)


def main(variant):
    runner = ModelRunner("cuda:1", variant)
    print(runner.capture_model(4).device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
