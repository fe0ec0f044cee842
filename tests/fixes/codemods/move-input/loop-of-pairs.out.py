# spot: loader
# name: batch
for batch in loader:
    batch = [part.to(device) for part in batch]
    x, y = batch
    loss = criterion(model(x), y)
