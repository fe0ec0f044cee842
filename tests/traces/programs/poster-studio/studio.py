"""python studio.py --lowvram "a lighthouse": paints posters from a prompt."""

import argparse

import torch
from memory import LowVram
from torch import nn


class PromptEncoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.token_embedding = nn.Embedding(256, width)
        self.proj = nn.Linear(width, width)

    def forward(self, ids):
        return self.proj(self.token_embedding(ids)).mean(dim=1)

    def encode_style(self, ids):
        """Only the tokens' vectors: the style prompt needs no context."""
        return self.token_embedding(ids).mean(dim=1)


class Painter(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.canvas = nn.Linear(2 * width, 3 * 8 * 8)

    def forward(self, prompt, style):
        return self.canvas(torch.cat([prompt, style], dim=1)).view(-1, 3, 8, 8)


def paint(encoder, painter, prompt, style, device):
    ids, style_ids = (torch.tensor([list(t.encode())], device=device) for t in (prompt, style))
    return painter(encoder(ids), encoder.encode_style(style_ids))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prompt")
    parser.add_argument("--lowvram", action="store_true")
    args = parser.parse_args()
    encoder, painter = PromptEncoder().cuda(), Painter().cuda()
    if args.lowvram:
        LowVram({"encoder": encoder, "painter": painter}, torch.device("cuda"))
    with torch.no_grad():
        print(paint(encoder, painter, args.prompt, "linocut", "cuda").shape)


if __name__ == "__main__":
    main()
