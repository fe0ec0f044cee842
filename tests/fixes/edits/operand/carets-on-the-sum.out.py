y = a * b + c.to(a.device)
