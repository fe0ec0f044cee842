# move-tensor-at-line
return x + self.inner(x) * self.gamma
#          ~~~~~~~~~~~~~~^~~~~~~~~~~~
