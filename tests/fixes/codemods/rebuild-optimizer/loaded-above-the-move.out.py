# cause: optimizer-state
# spot: self.tell("begin")
# owner: self.net
# move: self.net.to(self.device)
class Run:
    def fit(self, rows):
        self.net.to(self.device)
        self.tell("begin")
        for x in rows:
            self.step(x)
