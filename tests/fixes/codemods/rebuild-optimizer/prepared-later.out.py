# cause: optimizer-state
# spot: Adagrad(net.parameters())
net = Net()
net, loader = helper.prepare(net, loader)
opt = Adagrad(net.parameters())
