# move-tensor-at-line
x = x + self.pe[:, : x.size(1)]
