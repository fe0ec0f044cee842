# cause: optimizer-state
# spot: opt.state[w][k] = v
for w, row in zip(net.parameters(), saved):
    for k, v in row.items():
        opt.state[w][k] = v
