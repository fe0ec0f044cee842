# spot: 1
# devices: x.device
h = h.cuda(1)
