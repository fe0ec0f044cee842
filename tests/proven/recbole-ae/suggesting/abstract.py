import torch
from torch import nn


class Suggester(nn.Module):
    def __init__(self, config, ratings):
        super().__init__()
        self.n_items = ratings.items
        self.device = config["device"]


class HistoryMixin:
    """What models share that see each user as a row of ratings."""

    def build_history(self, ratings):
        self.history_id, self.history_value, _ = ratings.history_matrix()

    def rating_rows(self, user):
        columns = self.history_id[user].flatten()
        rows = torch.arange(user.shape[0]).repeat_interleave(self.history_id.shape[1], dim=0)
        matrix = torch.zeros(1).repeat(user.shape[0], self.n_items)
        matrix.index_put_((rows, columns), self.history_value[user].flatten())
        matrix = matrix.to(self.device)
        return matrix
