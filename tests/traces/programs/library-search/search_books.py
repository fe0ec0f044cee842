"""Nearest books to a query; the index of all books stays in the host's memory."""

import torch
from torch.nn import functional as F


class BookIndex:
    def __init__(self, books, width):
        self.vectors = F.normalize(torch.randn(books, width), dim=-1)
        self.titles = [f"book {number}" for number in range(books)]

    def neighbours(self, query, count):
        similarity = query @ self.vectors.to(query.device).t()
        best = similarity.topk(count, dim=-1).indices
        return best, self.rerank(query, best)

    def rerank(self, query, best):
        candidates = self.vectors[best].to(query.device)
        return (candidates * query[:, None]).sum(dim=-1)


def embed_queries(count, width):
    encoder = torch.nn.Linear(16, width).cuda()
    with torch.no_grad():
        return F.normalize(encoder(torch.randn(count, 16, device="cuda")), dim=-1)


if __name__ == "__main__":
    index = BookIndex(books=100, width=24)
    queries = embed_queries(4, width=24)
    best, scores = index.neighbours(queries, count=5)
    for row in best.tolist():
        print([index.titles[number] for number in row])
