return x + self.inner(x) * self.gamma.to(x.device)
