# spot: for step, (x, y) in enumerate(loader):
# name: y
for step, (x, y) in enumerate(loader):
    # forward and backward
    loss = criterion(model(x), y)
    print(f"{step}: {loss}")
