# move-tensor-at-line
y = self.model(x @ y
