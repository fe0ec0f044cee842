# cause: input-on-wrong-shard
# spot: x.to(self.devices[0])
# name: h
# meets: self.text(input_ids=h).pooler
def forward(self, x):
    h = self.zero(x.to(self.devices[0]))
    return self.text(input_ids=h).pooler
