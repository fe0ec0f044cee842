# cause: optimizer-state
# spot: self.opt.state[w] = copy.deepcopy(held)
class Undo:
    def back(self):
        for w, held in zip(self.weights, self.saved):
            self.opt.state[w] = copy.deepcopy(held)
