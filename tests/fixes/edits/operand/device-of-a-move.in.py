# move-tensor-at-line
y = x.to(device) + pe
