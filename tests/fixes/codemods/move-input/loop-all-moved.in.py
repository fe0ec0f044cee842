# spot: loader
# name: x
for x, y in loader:
    loss = criterion(model(x.to(device)), y.to(device))
