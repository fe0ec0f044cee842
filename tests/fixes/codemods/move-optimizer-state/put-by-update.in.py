# cause: optimizer-state
# spot: opt.state[w].update(row)
for w, row in zip(net.parameters(), saved):
    opt.state[w].update(row)
