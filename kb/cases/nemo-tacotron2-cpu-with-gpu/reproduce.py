"""A decoder moves its inputs to CUDA whenever the machine has it, wherever the decoder is.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks the decoder's weights and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, dim, n_mels, variant):
        super().__init__()
        self.prenet = nn.Linear(n_mels, dim)
        self.attention_rnn = nn.GRUCell(2 * dim, dim)
        self.linear_projection = nn.Linear(dim, n_mels)
        self.variant = variant

    def infer(self, memory):
        if self.variant == "fixed":
            memory = memory.to(self.prenet.weight.device)
        elif torch.cuda.is_available():
            memory = memory.cuda()
        frame = memory.new_zeros(len(memory), self.prenet.in_features)
        hidden = memory.new_zeros(len(memory), self.attention_rnn.hidden_size)
        frames = []
        for step in memory.unbind(1):
            hidden = self.attention_rnn(torch.cat([self.prenet(frame), step], dim=-1), hidden)
            frame = self.linear_projection(hidden)
            frames.append(frame)
        return torch.stack(frames, dim=2)


class Tacotron2Model(nn.Module):
    def __init__(self, variant):
        super().__init__()
        self.text_embedding = nn.Embedding(40, 16)
        self.decoder = Decoder(16, 8, variant)

    @torch.no_grad()
    def generate_spectrogram(self, tokens):
        return self.decoder.infer(self.text_embedding(tokens.to(self.text_embedding.weight.device)))


def main(variant):
    spec_generator = Tacotron2Model(variant).to("cpu")
    spectrogram = spec_generator.generate_spectrogram(torch.randint(40, (1, 5)))
    assert spectrogram.device.type == "cpu"
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
