# cpu-before-numpy
rows = np.concatenate(kept, axis=0)
