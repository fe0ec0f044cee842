p = logp.gather(-1, ids.to(logp.device))
