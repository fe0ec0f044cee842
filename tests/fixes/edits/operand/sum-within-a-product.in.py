# move-tensor-at-line
y = (a + b) @ w
