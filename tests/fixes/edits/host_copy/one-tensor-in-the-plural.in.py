# cpu-before-numpy
m = np.asarray(feats)
