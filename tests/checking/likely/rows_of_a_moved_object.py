import torch


class Samples:
    def __init__(self, rows, repeats):
        self.rows = rows
        self.repeats = repeats

    def to(self, device):
        self.rows = self.rows.to(device)
        self.repeats = self.repeats.to(device)
        return self

    def all(self, count):
        chosen = torch.cat((torch.arange(count), self.repeats))  # finds: created-without-device
        return self.rows[chosen]
