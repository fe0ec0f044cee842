h = f(a * b.to(a.device),
