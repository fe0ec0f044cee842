# cause: cross-shard-op
# spot: low
# devices: self.second
# wanted: cuda:1
def forward(self, x):
    h, rest = self.down(x.to(self.first))
    return self.up(h.to(self.second), low.to(self.second))
