# move-tensor-at-line
return (image - self.mean) / self.std
