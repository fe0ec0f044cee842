# spot: load(path)
model = load(path)
