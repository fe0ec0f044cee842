# move-tensor-at-line
y = x * lr
