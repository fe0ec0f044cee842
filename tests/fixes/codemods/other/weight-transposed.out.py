# cause: offloaded-to-cpu
# spot: lm.head.weight
lm.head = nn.Linear(8, 100, bias=False)
scores = (lm.head(states[:, -1])).softmax(-1)
