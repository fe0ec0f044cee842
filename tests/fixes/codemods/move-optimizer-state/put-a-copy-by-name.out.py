# cause: optimizer-state
# spot: opt.state[v] = saved[v].copy()
for v in net.parameters():
    opt.state[v] = {key: value.to(v.device) if hasattr(value, "to") else value for key, value in saved[v].copy().items()}
