# move-tensor-at-line
y = 名 * b + c * d
#            ~~^~~
