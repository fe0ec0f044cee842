# move-tensor-at-line
return self.layer(x)
