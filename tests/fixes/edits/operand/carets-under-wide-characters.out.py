y = 名 * b + c * d.to(c.device)
