# move-tensor-at-line
y = x.cuda() + w.to(d)
