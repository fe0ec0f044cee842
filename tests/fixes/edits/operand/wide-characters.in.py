# move-tensor-at-line
y = 名前 + bé.c  # é
