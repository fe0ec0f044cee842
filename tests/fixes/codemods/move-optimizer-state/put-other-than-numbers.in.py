# cause: optimizer-state
# spot: opt.state[w] = {k: v if isinstance(v, int) else v.clone() for k, v in saved[w].items()}
for w in net.parameters():
    opt.state[w] = {k: v if isinstance(v, int) else v.clone() for k, v in saved[w].items()}
