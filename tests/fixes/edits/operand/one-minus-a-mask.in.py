# move-tensor-at-line
z = mask * a + (1 - mask) * b
