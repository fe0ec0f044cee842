# move-tensor-at-line
target = reward + self.discount * (1 - done) * after
