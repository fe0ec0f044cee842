y = x + self.pe.to(x.device)
