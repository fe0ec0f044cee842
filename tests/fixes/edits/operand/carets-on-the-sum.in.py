# move-tensor-at-line
y = a * b + c
#   ~~~~~~^~~
