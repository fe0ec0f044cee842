import torch


class TensorGraph:
    """A graph whose edges are tensors."""

    def __init__(self, nodes, edges):
        self.nodes = nodes
        self.sources, self.targets = edges
        self.ndata = {}

    def to(self, device):
        self.sources = self.sources.to(device)
        self.targets = self.targets.to(device)
        return self

    def edges(self):
        return self.sources, self.targets


class TextGraph:
    """A graph whose edges are lists of numbers."""

    def __init__(self, device=None):
        self.device = device
        self.node_count = 0
        self.sources, self.targets = [], []
        self.node_features = {}

    def add_edges(self, sources, targets):
        self.sources += sources
        self.targets += targets

    def from_tensors(self, graph):
        assert self.node_count == 0, "only an empty graph is filled"

        # nodes
        self.node_count = graph.nodes
        for k, v in graph.ndata.items():
            self.node_features[k] = v

        # edges
        source_tensor, target_tensor = graph.edges()
        source_list = list(source_tensor.detach().numpy())
        target_list = list(target_tensor.detach().numpy())
        self.add_edges(source_list, target_list)

    def adjacency(self):
        dense = torch.zeros(self.node_count, self.node_count, device=self.device)
        dense[self.sources, self.targets] = 1.0
        return dense
