else a + b.to(a.device)
