# cause: optimizer-state
# spot: opt.state[w] = row
for w, row in zip(net.parameters(), rows):
    opt.state[w] = row
