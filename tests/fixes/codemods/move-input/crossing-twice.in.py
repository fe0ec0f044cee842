# cause: input-on-wrong-shard
# spot: x.to(self.devices[0])
# name: h
# meets: self.first(h) + self.second(h)
def forward(self, x):
    h = self.zero(x.to(self.devices[0]))
    return self.first(h) + self.second(h)
