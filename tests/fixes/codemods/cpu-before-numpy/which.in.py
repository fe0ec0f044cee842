# spot: np.dot(a, b)
# name: c
rows = np.dot(a, b)
