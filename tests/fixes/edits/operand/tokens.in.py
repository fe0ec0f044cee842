# move-tensor-at-line
y = self.encoder(x) + tokens
