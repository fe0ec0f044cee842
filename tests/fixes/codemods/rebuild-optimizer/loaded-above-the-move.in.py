# cause: optimizer-state
# spot: self.tell("begin")
# owner: self.net
# move: self.net.to(self.device)
class Run:
    def fit(self, rows):
        self.tell("begin")
        self.net.to(self.device)
        for x in rows:
            self.step(x)
