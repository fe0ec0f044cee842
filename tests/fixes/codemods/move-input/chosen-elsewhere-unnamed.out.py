# cause: input-on-wrong-shard
# spot: x.to(self.device)
# devices: ;
# wanted: cuda:1
# name: x
# meets: self.text(x)
x = x.to(self.device)
self.text(x.to(next(self.text.parameters()).device))
