# cause: optimizer-state
# spot: self.opt.state[w] = copy.deepcopy(held)
class Undo:
    def back(self):
        for w, held in zip(self.weights, self.saved):
            self.opt.state[w] = {k: v.to(w.device) if hasattr(v, "to") else v for k, v in copy.deepcopy(held).items()}
