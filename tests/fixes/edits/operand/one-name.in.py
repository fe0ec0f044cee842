# move-tensor-at-line
y = a
