# move-tensor-at-line
cur[0][i, :] += delta
