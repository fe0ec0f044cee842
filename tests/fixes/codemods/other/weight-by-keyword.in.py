# cause: offloaded-to-cpu
# spot: self.proj.weight
class Tower(nn.Module):
    def embed(self, pooled):
        return nn.functional.linear(pooled, self.proj.weight, bias=self.proj.bias)
