y = self.scale * z @ p.t().to(z.device)
