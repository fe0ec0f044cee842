loss = a + b.to(a.device) + c.to(a.device)
