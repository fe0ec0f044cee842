mixed = a * lam.to(a.device) + b * (1 - lam.to(a.device))
