# move-tensor-at-line
y = h * (warmup / total_steps) + pe
