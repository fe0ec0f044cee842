# move-tensor-at-line
return (x - self.mean) / self.std
