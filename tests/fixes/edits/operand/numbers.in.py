# move-tensor-at-line
y = 2 * 3
