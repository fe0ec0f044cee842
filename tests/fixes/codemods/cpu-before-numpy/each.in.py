# spot: np.concatenate([p[0] for p in parts])
rows = np.concatenate([p[0] for p in parts])
