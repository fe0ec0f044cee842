return (x - self.mean.to(x.device)) / self.std.to(x.device)
