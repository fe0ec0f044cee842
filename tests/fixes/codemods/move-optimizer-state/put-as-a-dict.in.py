# cause: optimizer-state
# spot: self.state[w] = dict(row)
class Heavy(Optimizer):
    def resume(self, rows):
        for w, row in zip(self.weights, rows):
            self.state[w] = dict(row)
