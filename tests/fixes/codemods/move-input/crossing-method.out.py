# cause: input-on-wrong-shard
# spot: x.to(self.devices[0])
# name: h
# meets: self.vae.decode(h)[0]
def forward(self, x):
    h = self.zero(x.to(self.devices[0]))
    return self.vae.decode(h.to(next(self.vae.parameters()).device))[0]
