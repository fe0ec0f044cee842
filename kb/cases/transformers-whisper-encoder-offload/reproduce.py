"""An encoder adds an offloaded module's weight without calling the module, so its hook never runs.

Needs torch, accelerate and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` looks the positions up by a call and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn
from torch.nn.functional import gelu

DEVICE_MAP = {"encoder": "cpu", "decoder": 0, "proj_out": 0}


class WhisperEncoder(nn.Module):
    def __init__(self, variant, mels=4, width=8, frames=6):
        super().__init__()
        self.variant = variant
        self.conv = nn.Conv1d(mels, width, kernel_size=3, padding=1)
        self.embed_positions = nn.Embedding(frames, width)
        self.layer_norm = nn.LayerNorm(width)

    def forward(self, input_features):
        hidden = gelu(self.conv(input_features)).permute(0, 2, 1)
        if self.variant == "failing":
            positions = self.embed_positions.weight
        else:
            frames = torch.arange(self.embed_positions.num_embeddings, device=hidden.device)
            positions = self.embed_positions(frames)
        return self.layer_norm(hidden + positions)


class Whisper(nn.Module):
    def __init__(self, variant, vocab_size=16, width=8):
        super().__init__()
        self.encoder = WhisperEncoder(variant)
        self.decoder = nn.TransformerDecoderLayer(width, nhead=2, dim_feedforward=16)
        self.proj_out = nn.Linear(width, vocab_size, bias=False)

    def forward(self, input_features, decoder_states):
        memory = self.encoder(input_features).transpose(0, 1)
        return self.proj_out(self.decoder(decoder_states, memory))


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(Whisper(variant).eval(), device_map=DEVICE_MAP, main_device=0)
    features = torch.randn(1, 4, 6, device="cuda:0")
    with torch.no_grad():
        model(features, torch.randn(3, 1, 8, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
