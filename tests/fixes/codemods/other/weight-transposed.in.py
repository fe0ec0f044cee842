# cause: offloaded-to-cpu
# spot: lm.head.weight
lm.head = nn.Linear(8, 100, bias=False)
scores = (states[:, -1] @ lm.head.weight.T).softmax(-1)
