# move-tensor-at-line
mixed = a * lam + b * (1 - lam)
#       ~~^~~~~
