import torch


class Matcher:
    """Points between noise and data, and the way from one to the other."""

    def sample(self, x0, x1):
        t = torch.rand(x0.shape[0]).type_as(x0)
        at = t.unsqueeze(1)
        return t, (1 - at) * x0 + at * x1, x1 - x0
