# move-tensor-at-line
elif (x - y).sum() > 1:
