y = h * (warmup / total_steps) + pe.to(h.device)
