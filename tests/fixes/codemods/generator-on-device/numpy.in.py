# spot: np.random.default_rng(3)
g = np.random.default_rng(3)
