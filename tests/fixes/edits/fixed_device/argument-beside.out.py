h = f(x, z.to(x.device))
