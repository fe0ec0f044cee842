class Agent:
    def __init__(self, net, device):
        self.device = device
        self.net = net.to(self.device)

    def act(self, seen):
        return self.net(seen.to(self.device))

    def value(self, seen):
        return self.net(seen.cuda())  # finds: hardcoded-device
