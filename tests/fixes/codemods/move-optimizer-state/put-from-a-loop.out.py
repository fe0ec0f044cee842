# cause: optimizer-state
# spot: opt.state[w] = {k: v.clone() for k, v in row.items()}
for w, row in zip(net.parameters(), rows):
    opt.state[w] = {k: v.clone().to(w.device) for k, v in row.items()}
