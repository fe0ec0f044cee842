# spot: net = net.cuda()
net = load(load_in_8bit=True)
net = net.cuda()
net.eval()
