"""The embedding of the padding token is looked up by a number that was made a cpu tensor.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes the number on the model's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class GraphLLM(nn.Module):
    pad_token_id = 0

    def __init__(self, vocab_size, dim, variant):
        super().__init__()
        self.word_embedding = nn.Embedding(vocab_size, dim)
        self.graph_encoder = nn.Linear(5, dim)
        self.head = nn.Linear(dim, vocab_size)
        self.variant = variant

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, samples):
        index = torch.tensor(self.pad_token_id)
        if self.variant == "fixed":
            index = index.to(self.device)
        pad_embeds = self.word_embedding(index).unsqueeze(0)
        rows = []
        longest = max(len(text) for text in samples["text"])
        for graph, text in zip(samples["graph"], samples["text"], strict=True):
            graph_embeds = self.graph_encoder(graph.to(self.device)).mean(dim=0, keepdim=True)
            text_embeds = self.word_embedding(text.to(self.device))
            padding = pad_embeds.repeat(longest - len(text), 1)
            rows.append(torch.cat([padding, graph_embeds, text_embeds]))
        return self.head(torch.stack(rows))


def main(variant):
    torch.manual_seed(0)
    model = GraphLLM(vocab_size=20, dim=8, variant=variant).cuda()
    batch = {
        "graph": [torch.randn(3, 5), torch.randn(4, 5)],
        "text": [torch.tensor([3, 4]), torch.tensor([5, 6, 7])],
    }
    model(batch).sum().backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
