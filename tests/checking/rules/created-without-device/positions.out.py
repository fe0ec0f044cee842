import torch
from torch import nn


class TokenAndPosition(nn.Module):
    def __init__(self, maxlen, vocab, dim):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(maxlen, dim)

    def forward(self, ids):
        positions = torch.arange(0, ids.size(1), device=ids.device)  # finds: created-without-device
        return self.tok(ids) + self.pos(positions)


embedder = TokenAndPosition(64, 100, 12).cuda()
ids = torch.randint(0, 100, (2, 10)).cuda()
print(embedder(ids).sum().item())
