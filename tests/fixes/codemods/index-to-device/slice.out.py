# spot: order[:k] + 1
# devices: x.device
rows = x[(order[:k] + 1).to(x.device)]
