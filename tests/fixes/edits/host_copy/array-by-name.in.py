# cpu-before-numpy
score = np.mean(losses_np)
