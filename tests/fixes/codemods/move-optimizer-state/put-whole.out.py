# cause: optimizer-state
# spot: opt.state[w] = row
for w, row in zip(net.parameters(), rows):
    opt.state[w] = {k: v.to(w.device) if hasattr(v, "to") else v for k, v in row.items()}
