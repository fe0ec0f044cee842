# cause: input-on-wrong-shard
# spot: x.to(self.device)
# devices: self.text_device
# wanted: cuda:1
x = x.to(self.device)
self.text(x)
