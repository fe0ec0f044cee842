# spot: y.to(device)
for x, y in loader:
    y = y.to(device)
    loss = criterion(model(x), y)
