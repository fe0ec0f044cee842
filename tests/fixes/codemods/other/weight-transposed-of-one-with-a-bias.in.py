# cause: offloaded-to-cpu
# spot: lm.head.weight
lm.head = nn.Linear(8, 100)
scores = states @ lm.head.weight.t()
