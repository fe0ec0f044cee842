# cause: optimizer-state
# spot: opt.state[w] = {k: copy.deepcopy(v) for k, v in saved[w].items()}
for w in net.parameters():
    opt.state[w] = {k: copy.deepcopy(v.to(w.device) if hasattr(v, "to") else v) for k, v in saved[w].items()}
