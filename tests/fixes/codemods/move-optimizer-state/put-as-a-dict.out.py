# cause: optimizer-state
# spot: self.state[w] = dict(row)
class Heavy(Optimizer):
    def resume(self, rows):
        for w, row in zip(self.weights, rows):
            self.state[w] = {k: v.to(w.device) if hasattr(v, "to") else v for k, v in row.items()}
