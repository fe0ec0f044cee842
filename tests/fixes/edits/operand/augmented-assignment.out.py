cur[0][i, :] += delta.to(cur[0].device)
