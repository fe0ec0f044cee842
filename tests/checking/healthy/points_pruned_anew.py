import torch
from torch import nn


class Points:
    def __init__(self):
        self.place = torch.empty(0)
        self.size = torch.empty(0)
        self.pull = torch.empty(0)

    def start(self, place, size):
        self.place = nn.Parameter(torch.tensor(place).float().cuda())
        self.size = nn.Parameter(torch.tensor(size).float().cuda())
        groups = [{"params": [self.place], "name": "place"}, {"params": [self.size], "name": "size"}]
        self.optimizer = torch.optim.Adam(groups, lr=0.1)
        self.pull = torch.zeros(self.place.shape[0], device="cuda")

    def _prune(self, mask):
        kept = {}
        for group in self.optimizer.param_groups:
            state = self.optimizer.state.get(group["params"][0], None)
            if state is not None:
                del self.optimizer.state[group["params"][0]]
            group["params"][0] = nn.Parameter(group["params"][0][mask].requires_grad_(True))
            kept[group["name"]] = group["params"][0]
        return kept

    def prune(self, mask):
        kept = self._prune(mask)
        self.place, self.size = kept["place"], kept["size"]
        self.pull = self.pull[mask]

    def grow(self, least):
        pull = torch.zeros(self.place.shape[0], device="cuda")
        pull[: self.pull.shape[0]] = self.pull
        chosen = torch.where(pull >= least, True, False)
        return self.place[chosen], self.size[chosen]


points = Points()
points.start([[0.0, 1.0], [1.0, 0.0]], [0.1, 0.2])
points.prune(torch.tensor([True, False], device="cuda"))
print(points.grow(0.0))
