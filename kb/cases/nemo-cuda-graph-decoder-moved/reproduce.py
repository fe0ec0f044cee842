"""A decoder keeps static tensors in a plain object, and the model around it goes to another GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the decoder a module with buffers and prints "fixed: ok".
Capturing and replaying a CUDA graph is left out: what counts is its static memory.
"""

import sys

import torch
from torch import nn


def greedy(joint, encoder_output, scratch, blank=0):
    scratch.copy_(encoder_output)
    last_label = torch.full_like(scratch[:, 0, 0], blank, dtype=torch.long)
    labels = []
    for step in scratch.unbind(1):
        last_label = joint(step, last_label).argmax(-1)
        labels.append(last_label)
    return torch.stack(labels, dim=1)


class RNNTGreedyDecodeCudaGraph:
    def __init__(self, shape, device, joint):
        self.joint = joint
        self.encoder_output_projected = torch.zeros(shape, device=device)
        self.bias = torch.zeros(shape[-1], device=device)

    def __call__(self, x):
        return greedy(self.joint, x + self.bias, self.encoder_output_projected)


class RNNTGreedyDecodeModule(nn.Module):
    def __init__(self, shape, device, joint):
        super().__init__()
        self.joint = joint
        self.register_buffer("encoder_output_projected", torch.zeros(shape, device=device))
        self.register_buffer("bias", torch.zeros(shape[-1], device=device))

    def forward(self, x):
        return greedy(self.joint, x + self.bias, self.encoder_output_projected)


class Joint(nn.Module):
    def __init__(self, dim, vocab):
        super().__init__()
        self.embed, self.out = nn.Embedding(vocab, dim), nn.Linear(dim, vocab)

    def forward(self, encoded, label):
        return self.out(encoded + self.embed(label))


class ASRModel(nn.Module):
    def __init__(self, map_location, variant, dim=8):
        super().__init__()
        self.encoder, self.joint = nn.Linear(4, dim), Joint(dim, vocab=6)
        self.to(map_location)
        kind = RNNTGreedyDecodeModule if variant == "fixed" else RNNTGreedyDecodeCudaGraph
        self.decoding = kind((1, 5, dim), map_location, self.joint)

    @torch.no_grad()
    def transcribe(self, features):
        return self.decoding(self.encoder(features.to(self.encoder.weight.device)))


def main(variant):
    asr_model = ASRModel("cuda:0", variant)
    asr_model.transcribe(torch.randn(1, 5, 4))
    asr_model = asr_model.to("cuda:1")
    assert asr_model.transcribe(torch.randn(1, 5, 4)).shape == (1, 5)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
