# move-tensor-at-line
y = x + pe.to(x.device)
