# spot: for x in loader:
# name: x
for x in loader: model(x)
