# spot: h.view(3)
h = h.view(3)
