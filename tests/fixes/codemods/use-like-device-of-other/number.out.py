# spot: 1
# devices: x.device
h = h.to(x.device)
