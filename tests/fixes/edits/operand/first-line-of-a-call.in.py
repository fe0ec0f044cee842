# move-tensor-at-line
h = f(a * b,  # the gate
