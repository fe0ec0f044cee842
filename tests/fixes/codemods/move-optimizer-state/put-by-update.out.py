# cause: optimizer-state
# spot: opt.state[w].update(row)
for w, row in zip(net.parameters(), saved):
    opt.state[w].update({k: v.to(w.device) if hasattr(v, "to") else v for k, v in row.items()})
