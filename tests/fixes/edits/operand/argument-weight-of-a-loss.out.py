l = F.cross_entropy(out, y, weight=self.w.to(out.device))
