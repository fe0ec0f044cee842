# spot: loader
# name: y
for x, y, name in loader:
    y = y.to(device)

    x = x.to(device, non_blocking=True)
    names.add(name)
    loss = criterion(model(x), y)
