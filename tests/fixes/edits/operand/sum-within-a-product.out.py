y = (a + b.to(a.device)) @ w
