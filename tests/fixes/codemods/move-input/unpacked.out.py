# spot: next(iter(loader))
# name: x
x, y = next(iter(loader))
x = x.to(device)
y = y.to(device)
loss = criterion(model(x), y)
