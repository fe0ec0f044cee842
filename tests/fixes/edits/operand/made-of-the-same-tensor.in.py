# move-tensor-at-line
d = flat.pow(2).sum(1) - 2 * flat @ self.codebook.t() + self.codebook.pow(2).sum(1)
