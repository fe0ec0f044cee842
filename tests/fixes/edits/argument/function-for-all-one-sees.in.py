# move-input
out = model(ids)
