# move-input below=module
out = model(ids)
