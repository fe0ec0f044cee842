from texts.graph import TensorGraph, TextGraph
from torch import nn


class Translator(nn.Module):
    def __init__(self, words, size, device):
        super().__init__()
        self.device = device
        self.embedding = nn.Embedding(words, size)
        self.layer = nn.Linear(size, words)

    def forward(self, words, edges):
        tensors = TensorGraph(len(words), edges).to(self.device)
        tensors.ndata["feature"] = self.embedding(words.to(self.device))
        graph = TextGraph(device=self.device)
        graph.from_tensors(tensors)
        return self.layer(graph.adjacency() @ graph.node_features["feature"])
