# move-input
y = x + self.pe
