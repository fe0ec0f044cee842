"""The positions of an answer are on the first GPU, the logits of a split model are on the last.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves them to the logits and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn


class OPTForQuestionAnswering(nn.Module):
    moves_positions = False

    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.qa_outputs = nn.Linear(width, 2)

    def forward(self, input_ids, start_positions, end_positions):
        logits = self.qa_outputs(self.layers(self.embed_tokens(input_ids)))
        positions = torch.stack([start_positions, end_positions], dim=1)
        if self.moves_positions:
            positions = positions.to(logits.device)
        # One row of scores over the text for each position: that of the start, that of the end.
        return nn.functional.cross_entropy(logits.mT.flatten(0, 1), positions.flatten())


def main(variant):
    torch.manual_seed(0)
    device_map = {"embed_tokens": 0, "layers": 0, "qa_outputs": 1}
    model = dispatch_model(OPTForQuestionAnswering(), device_map=device_map)
    model.moves_positions = variant == "fixed"
    batch = {
        "input_ids": torch.randint(32, (2, 10)),
        "start_positions": torch.tensor([2, 4]),
        "end_positions": torch.tensor([5, 4]),
    }
    model(**{name: value.to("cuda:0") for name, value in batch.items()}).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
