"""Speaker numbers are cast to torch.LongTensor, the cpu's type, right before their look-up on the GPU.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sends them back to the device of the text and prints "fixed: ok".
Only the embeddings of a multi-speaker ForwardTTS are built; they are small and random.
"""

import sys

import torch
from torch import nn


class ForwardTTS(nn.Module):
    def __init__(self, num_chars=16, num_speakers=3, hidden_channels=8, follow_input=False):
        super().__init__()
        self.emb = nn.Embedding(num_chars, hidden_channels)
        self.emb_g = nn.Embedding(num_speakers, hidden_channels)
        self.encoder = nn.Linear(hidden_channels, hidden_channels)
        self.follow_input = follow_input

    def _forward_encoder(self, x, g=None):
        if g is not None:
            g = g.type(torch.LongTensor)
            if self.follow_input:
                g = g.to(x.device)
            g = self.emb_g(g)
        x_emb = self.emb(x)
        if g is not None:
            x_emb = x_emb + g.unsqueeze(1)
        return self.encoder(x_emb)

    def forward(self, x, aux_input):
        return self._forward_encoder(x, g=aux_input["speaker_ids"])


def train_step(model, batch):
    outputs = model(batch["text_input"], {"speaker_ids": batch["speaker_ids"]})
    outputs.square().mean().backward()


def main(variant):
    torch.manual_seed(0)
    device = torch.device("cuda:0")
    model = ForwardTTS(follow_input=variant == "fixed").to(device)
    batch = {"text_input": torch.randint(16, (2, 5)), "speaker_ids": torch.tensor([0, 2])}
    train_step(model, {name: value.to(device) for name, value in batch.items()})
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
