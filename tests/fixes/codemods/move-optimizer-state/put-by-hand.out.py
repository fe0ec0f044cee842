# cause: optimizer-state
# spot: self.state[w]["speed"] = rows[n]
class Heavy(Optimizer):
    def resume(self, rows):
        for n, w in enumerate(self.weights):
            self.state[w]["speed"] = rows[n].to(w.device)
