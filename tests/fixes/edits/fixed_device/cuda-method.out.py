y = x + z.to(x.device)
