# spot: list(kept.values())
# cause: cross-shard-op
# devices: self.net.last
def total(self, kept):
    return torch.cat(list(kept.values())).sum()
