# move-tensor-at-line
w = beta1 * m + (1 - beta1) * g
