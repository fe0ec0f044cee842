# cause: optimizer-state
# spot: self.net.to(device)
# owner: self.opt
class Learner:
    def to(self, device):
        self.net.to(device)
        self.opt.load_state_dict(self.opt.state_dict())
        return self
