# move-tensor-at-line
else a + b
