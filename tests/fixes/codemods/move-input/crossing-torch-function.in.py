# cause: input-on-wrong-shard
# spot: x.to(self.devices[0])
# name: h
# meets: F.relu(h)
def forward(self, x):
    h = self.zero(x.to(self.devices[0]))
    return F.relu(h)
