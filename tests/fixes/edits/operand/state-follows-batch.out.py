x = x + self.pe[:, : x.size(1)].to(x.device)
