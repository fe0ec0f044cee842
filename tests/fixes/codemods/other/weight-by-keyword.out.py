# cause: offloaded-to-cpu
# spot: self.proj.weight
class Tower(nn.Module):
    def embed(self, pooled):
        return self.proj(pooled)
