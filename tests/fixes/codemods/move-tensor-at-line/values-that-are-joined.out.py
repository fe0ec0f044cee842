# spot: list(kept.values())
# cause: cross-shard-op
# devices: self.net.last
def total(self, kept):
    return torch.cat([part.to(self.net.last) for part in list(kept.values())]).sum()
