# move-tensor-at-line
f"{x + y}"
