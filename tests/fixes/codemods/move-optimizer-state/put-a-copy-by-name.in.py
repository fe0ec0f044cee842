# cause: optimizer-state
# spot: opt.state[v] = saved[v].copy()
for v in net.parameters():
    opt.state[v] = saved[v].copy()
