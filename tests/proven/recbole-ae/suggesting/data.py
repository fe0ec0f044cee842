import torch


class Ratings:
    """Which items each user has rated."""

    def __init__(self, users, items):
        self.users = users
        self.items = items

    def history_matrix(self):
        ids = torch.stack([torch.randperm(self.items)[:4] for _ in range(self.users)])
        return ids, torch.ones(ids.shape), torch.full((self.users,), 4)

    def batches(self, size):
        return torch.randperm(self.users).split(size)
