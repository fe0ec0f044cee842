# move-tensor-at-line
hidden = residual + self.mlp(
