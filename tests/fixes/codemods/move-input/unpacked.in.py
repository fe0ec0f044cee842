# spot: next(iter(loader))
# name: x
x, y = next(iter(loader))
loss = criterion(model(x), y)
