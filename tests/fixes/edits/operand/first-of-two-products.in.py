# move-tensor-at-line
t = (q * cos) + (turn(q) * sin)
