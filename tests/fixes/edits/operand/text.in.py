# move-tensor-at-line
s = 'a' + f(b)
