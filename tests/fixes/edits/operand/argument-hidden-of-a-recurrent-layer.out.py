out, h = self.gru(prior, h.to(prior.device))
