# cause: optimizer-state
# spot: self.opt.load_state_dict(saved["opt"])
# owner: self.net
class Run:
    def restore(self, saved):
        self.opt.load_state_dict(saved["opt"])
