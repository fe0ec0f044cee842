return h + (self.scale * self.direction).to(h.device)
