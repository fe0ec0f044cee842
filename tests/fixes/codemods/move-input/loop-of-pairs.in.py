# spot: loader
# name: batch
for batch in loader:
    x, y = batch
    loss = criterion(model(x), y)
