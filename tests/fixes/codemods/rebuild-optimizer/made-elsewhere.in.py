# cause: optimizer-state
# spot: self.net.to(device)
# owner: self.opt
class Learner:
    def to(self, device):
        self.net.to(device)
        return self
