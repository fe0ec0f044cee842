# move-tensor-at-line argument=hidden below=module
out, h = self.gru(prior, h)
