# spot: for step, (x, y) in enumerate(loader):
# name: y
for step, (x, y) in enumerate(loader):
    x = x.to(device)
    y = y.to(device)
    # forward and backward
    loss = criterion(model(x), y)
    print(f"{step}: {loss}")
