# move-tensor-at-line
loss = a + b + c
