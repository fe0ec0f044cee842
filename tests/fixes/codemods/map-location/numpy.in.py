# spot: np.load(path)
state = np.load(path)
