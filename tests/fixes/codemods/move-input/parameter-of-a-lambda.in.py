# spot: parameter x
# name: x
f = lambda x: x + 1
