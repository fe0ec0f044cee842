# spot: for a, b in loader:
# name: a
# beside: a, b = a.to(device), b.to(device)
for a, b in loader:
    a, b = a.to(device), b.to(device)
    loss = criterion(model(a), b)
