# cause: optimizer-state
# spot: Adagrad(net.parameters())
net = Net()
opt = Adagrad(net.parameters())
net, loader = helper.prepare(net, loader)
