# cause: optimizer-state
# spot: self.net.to(device)
# owner: self.opt
class Run:
    def __init__(self, device):
        self.opt = self.make()
        self.smoke_test()
        self.net.to(device)
        self.losses = []
