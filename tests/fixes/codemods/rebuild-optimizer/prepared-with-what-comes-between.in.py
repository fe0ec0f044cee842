# cause: optimizer-state
# spot: Adagrad(net.parameters())
net = Net()
opt = Adagrad(net.parameters())
loader = DataLoader(rows)
net, loader = helper.prepare(net, loader)
