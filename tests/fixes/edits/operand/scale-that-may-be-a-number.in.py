# move-tensor-at-line
return h + self.scale * self.direction
