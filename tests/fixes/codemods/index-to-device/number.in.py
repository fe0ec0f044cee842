# spot: 3
rows = x[3]
