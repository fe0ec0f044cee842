t = (q * cos.to(q.device)) + (turn(q) * sin.to(q.device))
