# move-tensor-at-line
return a +
