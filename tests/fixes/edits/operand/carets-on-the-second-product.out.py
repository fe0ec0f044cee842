y = a * b + c * d.to(c.device)
