# cause: optimizer-state
# spot: Adagrad(net.parameters())
opt = Adagrad(net.parameters())
