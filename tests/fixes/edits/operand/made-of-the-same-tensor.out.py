d = flat.pow(2).sum(1) - 2 * flat @ self.codebook.t().to(flat.device) + self.codebook.pow(2).sum(1).to(flat.device)
