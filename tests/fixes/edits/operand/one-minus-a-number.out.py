w = beta1 * m + (1 - beta1) * g.to(m.device)
